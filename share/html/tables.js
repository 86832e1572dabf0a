// SPDX-License-Identifier: MIT
// The tables of functions, files and lines.
"use strict";

chord.columns = {
	insns: title => ({
		key: "insns", title: title || "instructions", kind: "number", hint: "Instructions executed",
		heat: row => chord.heat(row.insns, chord.summary.totals.instructions),
	}),
	share: () => ({
		key: "share", title: "share", kind: "number", width: "5.5rem", hint: "Of all instructions executed", value: row => row.insns,
		cell: row => chord.share(row.insns, chord.summary.totals.instructions),
	}),
	number: (key, title, hint, width) => ({key, title, hint, kind: "number", width}),
};

chord.views.push({name: "functions", title: "Functions", open: () => {
	const {number, insns, share} = chord.columns;
	return chord.grid({
		label: "Functions", rows: chord.functions, sort: "insns", open: row => chord.go("/function/" + row.id),
		text: row => row.name + " " + row.symbol + " " + chord.files[row.file].name,
		mark: row => row.why ? "lost" : chord.value(row.insns) === 0 ? "never" : "",
		columns: [
			insns(), share(), number("calls", "calls", "Times entered"),
			number("code", "code", "Instructions that it has", "5rem"),
			number("never", "never ran", "Of these, how many never ran", "6rem"),
			{key: "name", title: "function", kind: "text", width: "minmax(14rem, 2fr)", cell: row => row.why ? chord.h("span", {title: row.why},
				chord.functionLink(row.id), chord.h("em", {}, " " + chord.clean(row.why))) : chord.functionLink(row.id)},
			{key: "file", title: "file", kind: "text", value: row => chord.files[row.file].name + " " + row.line,
				cell: row => row.file < chord.listed ? chord.fileLink(row.file, row.line) : chord.place(row.file, row.line)},
		],
	});
}});

chord.views.push({name: "files", title: "Files", open: () => {
	const {number, insns, share} = chord.columns;
	return chord.grid({
		label: "Files", rows: chord.files, sort: "insns", text: row => row.name,
		open: row => row.id < chord.listed && chord.go("/file/" + row.id),
		mark: row => chord.value(row.insns) === 0 ? "never" : "",
		columns: [
			insns(), share(), number("lines", "lines", "Lines that have code", "6rem"),
			number("never", "never ran", "Of these, how many never ran", "6rem"),
			number("unknown", "not known", "Of these, how many are not measured or not known", "6rem"),
			{key: "name", title: "file", kind: "text", width: "minmax(20rem, 2fr)",
				cell: row => row.id < chord.listed ? chord.link("#/file/" + row.id, row.name) : row.name},
		],
	});
}});

chord.views.push({name: "lines", title: "Lines", open: async () => {
	const {number, insns, share} = chord.columns;
	const rows = chord.objects(await chord.load("lines"), ["file", "line", "insns", "most", "code", "never"]);
	return chord.grid({
		label: "Lines", rows, sort: "insns", text: row => chord.files[row.file].name + ":" + row.line,
		open: row => row.file < chord.listed && chord.go("/file/" + row.file + "/" + row.line),
		mark: row => chord.value(row.insns) === 0 ? "never" : "",
		columns: [
			insns(), share(), number("most", "most", "How often that instruction of it ran that ran most often"),
			number("code", "code", "Instructions that it has", "5rem"),
			{key: "place", title: "line", kind: "text", value: row => chord.files[row.file].name + ":" + row.line,
				cell: row => row.file < chord.listed ? chord.link("#/file/" + row.file + (row.line ? "/" + row.line : ""),
					chord.files[row.file].name + (row.line ? ":" + row.line : " (line not known)")) : chord.files[row.file].name},
		],
	});
}});
