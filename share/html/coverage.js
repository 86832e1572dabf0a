// SPDX-License-Identifier: MIT
// What ran at all: lines, the two ways of conditional jumps, functions, by file.
"use strict";

chord.views.push({name: "coverage", title: "Coverage", open: () => {
	const {h, number} = chord;
	const files = chord.files.filter(f => f.lines > 0).map(f => ({...f, known: f.lines - f.unknown, functions: 0, entered: 0, lost: 0}));
	const byId = new Map(files.map(f => [f.id, f]));

	for (const f of chord.functions) {
		const file = byId.get(f.file);
		if (file && !chord.known(f.calls))
			file.lost++;
		else if (file) {
			file.functions++;
			file.entered += chord.value(f.calls) > 0;
		}
	}

	function ratio(part, all) {
		if (!all)
			return h("span", {class: "dim"}, "—");
		const inner = h("i");
		inner.style.width = 100 * part / all + "%";
		return h("span", {class: "ratio", title: number(part) + " of " + number(all)},
			// 99.96 % is not said to be all.
			h("span", {class: "number"}, (Math.floor(1000 * part / all) / 10).toFixed(1) + " %"), h("span", {class: "track", "aria-hidden": "true"}, inner));
	}

	const column = (key, title, hint, part, all) => ({key, title, hint, kind: "number", width: "9rem", value: row => all(row) ? part(row) / all(row) : -1,
		cell: row => ratio(part(row), all(row))});
	const sum = pick => files.reduce((n, f) => n + pick(f), 0);
	const covered = f => f.known - f.never;
	const table = chord.grid({
		label: "Files", rows: files, sort: "left", text: row => row.name, open: row => row.id < chord.listed && chord.go("/file/" + row.id),
		columns: [
			{key: "left", title: "lines not run", kind: "number", width: "7rem", value: row => row.never, cell: row => number(row.never)},
			column("lines", "lines", "Lines with code that ran, of those that are known", covered, row => row.known),
			column("branches", "branches", "Ways of conditional jumps that were taken", row => row.ways, row => 2 * row.branches),
			column("functions", "functions", "Functions that were entered", row => row.entered, row => row.functions),
			{key: "unknown", title: "not known", hint: "Lines that are not measured, or whose counts are not known", kind: "number", width: "6rem"},
			{key: "name", title: "file", kind: "text", width: "minmax(20rem, 2fr)", cell: row => chord.link("#/file/" + row.id, row.name)},
		],
	});
	table.list.node.classList.add("wide");
	const line = (name, part, all) => h("tr", {}, h("th", {scope: "row"}, name), h("td", {}, ratio(part, all)),
		h("td", {class: "number"}, number(part)), h("td", {class: "number"}, number(all)));
	return {...table, node: h("div", {class: "page"}, h("header", {class: "about"}, h("table", {class: "plain"},
		h("tr", {}, h("th"), h("th", {}, "ran"), h("th", {class: "number"}, "ran"), h("th", {class: "number"}, "of")),
		line("lines", sum(covered), sum(f => f.known)), line("branches", sum(f => f.ways), 2 * sum(f => f.branches)),
		line("functions", sum(f => f.entered), sum(f => f.functions))),
		sum(f => f.unknown) ? h("p", {class: "note"}, number(sum(f => f.unknown)) + " lines with code are in none of these numbers: they are not " +
			"measured, or their counts are not known.") : null), table.node)};
}});
