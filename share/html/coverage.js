// SPDX-License-Identifier: MIT
// What ran at all, by file, as in chord coverage: [never, not known, ran] of lines, branches, functions and blocks.
"use strict";

chord.views.push({name: "coverage", title: "Coverage", open: async () => {
	const {h, number} = chord, kinds = ["lines", "branches", "functions", "blocks"];
	const rows = chord.objects(await chord.load("coverage"), ["file", ...kinds]);
	const body = h("tbody");
	const system = h("input", {type: "checkbox", onchange: () => table.narrow()});
	const hints = {lines: "Lines that have code", branches: "Both ways of conditional jumps", functions: "Functions", blocks: "Blocks"};

	function ratio([never, unknown, ran]) {
		const all = never + unknown + ran;
		if (!all)
			return h("span", {class: "dim"}, "—");
		if (all === unknown)
			return "?";
		const inner = h("i"), open = h("i", {class: "open"});
		inner.style.width = 100 * ran / all + "%";
		open.style.width = 100 * unknown / all + "%";
		return h("span", {class: "ratio", title: number(ran) + " of " + number(all) + " ran" + (unknown ? ", of " + number(unknown) + " it is not known" : "")},
			h("span", {class: "number"}, chord.percent(ran, all, 2) + " %"),
			h("span", {class: "track", "aria-hidden": "true"}, inner, open));
	}

	function total(shown) {
		body.replaceChildren(...kinds.map(kind => {
			const sum = [0, 1, 2].map(i => shown.reduce((n, row) => n + row[kind][i], 0));
			return h("tr", {}, h("th", {scope: "row"}, kind), h("td", {}, ratio(sum)), h("td", {class: "number"}, number(sum[2])),
				h("td", {class: "number"}, number(sum[0])), h("td", {class: "number"}, number(sum[1])));
		}));
	}

	const table = chord.grid({
		label: "Files", rows, sort: "left", text: row => chord.files[row.file].name, changed: total,
		wanted: row => system.checked || !/^\/(usr\/(include|lib|local\/include)|rustc|rust\/deps)\//.test(chord.files[row.file].name),
		tools: h("label", {}, system, " with the system's files"), open: row => row.file < chord.listed && chord.go("/file/" + row.file),
		columns: [
			{key: "left", title: "lines not run", kind: "number", width: "7rem", value: row => row.lines[0], cell: row => number(row.lines[0])},
			...kinds.map(kind => ({key: kind, title: kind, hint: hints[kind] + " that ran, of all; of grey ones it is not known", kind: "number", width: "9rem",
				value: row => { const all = row[kind][0] + row[kind][1] + row[kind][2]; return all ? row[kind][2] / all : null; },
				cell: row => ratio(row[kind])})),
			{key: "name", title: "file", kind: "text", width: "minmax(20rem, 2fr)", value: row => chord.files[row.file].name,
				cell: row => row.file < chord.listed ? chord.link("#/file/" + row.file, chord.files[row.file].name) : chord.files[row.file].name},
		],
	});
	return {...table, node: h("div", {class: "page"}, h("header", {class: "about"}, h("table", {class: "plain"},
		h("thead", {}, h("tr", {}, h("th", {class: "dim"}, "of the files below"), h("th"), ["ran", "never ran", "not known"].map(t => h("th", {class: "number"}, t)))),
		body)), table.node)};
}});
