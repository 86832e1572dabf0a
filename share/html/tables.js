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

chord.views.push({name: "functions", title: "Functions", open: ([what]) => {
	const {number, insns, share} = chord.columns;
	const tab = (href, title, on) => chord.link(href, title, {"aria-current": on ? "page" : null});
	const tabs = chord.h("nav", {class: "tabs", "aria-label": "Of the functions"}, tab("#/functions", "As built", !what),
		tab("#/functions/written", "As written", what));
	if (what)
		return chord.writtenFunctions(tabs);
	const table = chord.grid({
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
	return {...table, node: chord.h("div", {class: "page"}, chord.h("header", {class: "about"}, tabs), table.node)};
}});

// Functions as they are in the source, wherever their code is. The places where they were inlined are shown next to the table.
chord.writtenFunctions = async function (tabs) {
	const {h, number} = chord, {insns, share} = chord.columns;
	const rows = chord.objects(await chord.load("written"), ["name", "file", "line", "insns", "inlined", "whole", "copies"]);
	const beside = h("aside", {class: "beside", "aria-live": "polite"}, h("p", {class: "dim"}, "Select a function to see where its code is."));
	const byFile = new Map(chord.files.map(f => [f.name, f.id]));

	function place([inside, file, line, n]) {
		const id = byFile.get(file), at = file ? chord.base(file) + (line ? ":" + line : "") : "";
		return h("li", {}, number(n), " ", inside === null ? h("em", {}, "its own code") : h("span", {title: chord.clean(inside)}, "in " + chord.clean(chord.shorter(inside)) + " ",
			id !== undefined && id < chord.listed ? chord.fileLink(id, line) : chord.clean(at)));
	}

	const table = chord.grid({
		label: "Functions", rows, sort: "insns", least: "46rem", text: row => row.name + " " + chord.files[row.file].name,
		select: row => beside.replaceChildren(h("h2", {}, chord.clean(row.name)), h("ul", {class: "links"}, row.copies.slice(0, 200).map(place)),
			row.copies.length > 200 ? h("p", {}, "and " + number(row.copies.length - 200) + " more places") : ""),
		mark: row => chord.value(row.insns) === 0 ? "never" : "",
		columns: [
			insns(), share(), chord.columns.number("inlined", "inlined", "Of these, where it was inlined"),
			chord.columns.number("whole", "with inlined", "With all that was inlined into it"),
			{key: "name", title: "function", kind: "text", width: "minmax(10rem, 2fr)",
				cell: row => h("span", {title: chord.clean(row.name)}, chord.clean(chord.shorter(row.name)))},
			{key: "file", title: "file", kind: "text", value: row => chord.files[row.file].name + " " + row.line,
				cell: row => row.file < chord.listed ? chord.fileLink(row.file, row.line) : chord.place(row.file, row.line)},
		],
	});
	return {...table, node: h("div", {class: "page"}, h("header", {class: "about"}, tabs, h("p", {class: "dim"}, "Each instruction is of one " +
		"function: the innermost one that was inlined there.")), h("div", {class: "split file"}, table.node, beside))};
};

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
