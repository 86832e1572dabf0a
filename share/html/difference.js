// SPDX-License-Identifier: MIT
// The differences between two runs: their own view, and what other views show of them.
"use strict";

// The change of a number. null: one side is not known, or has only bounds.
chord.change = function (before, after) {
	if (!chord.known(before) || !chord.known(after) || Array.isArray(before) || Array.isArray(after))
		return null;
	return chord.minus(after, before);
};

chord.signed = function (n) {
	if (n === null)
		return "?";
	const text = String(n);
	return text.startsWith("-") ? "−" + chord.group(text.slice(1)) : "+" + chord.group(text);
};

// The class of a change, for its colour.
chord.direction = n => n === null ? "lost" : Number(n) > 0 ? "up" : Number(n) < 0 ? "down" : "same";

// A cell for a change; it is blank if nothing changed.
chord.changeCell = function (before, after) {
	const n = chord.change(before, after);
	return chord.h("span", {class: "n number change " + chord.direction(n),
		title: "before " + chord.number(before) + ", now " + chord.number(after)}, n === null ? "?" : Number(n) ? chord.signed(n) : "");
};

// Lines of a file whose executed instructions changed: [before, after] by line. null: the run is not compared with another one.
chord.changedLines = async function (file) {
	if (!chord.summary.differs)
		return null;
	const d = await chord.load("difference"), name = chord.files[file].name;
	return new Map(d.lines.filter(([, at, line]) => at === name && line).map(([, , line, before, after]) => [line, [before ?? 0, after ?? 0]]));
};

chord.views.push({name: "difference", title: "Difference", shown: () => chord.summary.differs, open: async ([what]) => {
	const {h, number} = chord, d = await chord.load("difference");
	const keys = ["name", "file", "line", "before", "after"];
	const rows = chord.objects(what ? d.lines : d.functions, keys);
	const byName = new Map(chord.functions.map(f => [f.name, f.id])), byFile = new Map(chord.files.map(f => [f.name, f.id]));

	const change = row => chord.change(row.before ?? 0, row.after ?? 0), signed = chord.signed;

	function percent(row) {
		const n = change(row), before = chord.value(row.before ?? 0);
		return n === null || before <= 0 ? (row.before === null ? "new" : "") : (Number(n) >= 0 ? "+" : "−") + Math.abs(100 * Number(n) / before).toFixed(2) + " %";
	}

	function link(row) {
		if (what) {
			const id = byFile.get(row.file), text = row.file + (row.line ? ":" + row.line : "");
			return id !== undefined && id < chord.listed ? chord.link("#/file/" + id + "/" + row.line, text) : chord.clean(text);
		}
		return byName.has(row.name) ? chord.functionLink(byName.get(row.name)) :
			h("span", {title: chord.clean(row.name)}, chord.clean(chord.shorter(row.name)));
	}

	const side = (key, title) => ({key, title, kind: "number", cell: row => row[key] === null ? "not there" : number(row[key])});
	const largest = rows.reduce((n, row) => Math.max(n, Math.abs(Number(change(row) ?? 0))), 1);
	const table = chord.grid({
		label: what ? "Lines" : "Functions", rows, sort: "size", text: row => (row.name || "") + " " + (row.file || "") + ":" + row.line,
		open: row => { const a = link(row); if (a.href) location.href = a.href; },
		columns: [
			side("before", "before"), side("after", "after"),
			{key: "size", title: "change", kind: "number", hint: "Sorted by size", value: row => Math.abs(Number(change(row) ?? 0)),
				cell: row => signed(change(row)),
				heat: row => Number(change(row)) > 0 ? chord.heat(Number(change(row)), largest) : 0},
			{key: "percent", title: "", kind: "number", width: "6.5rem", value: row => chord.value(row.before ?? 0) > 0 && change(row) !== null ?
				1e6 + Number(change(row)) / chord.value(row.before) : -1, cell: percent},
			{key: "name", title: what ? "line" : "function", kind: "text", width: "minmax(18rem, 2fr)",
				value: row => what ? row.file + ":" + row.line : row.name, cell: link},
			...(what ? [] : [{key: "file", title: "file", kind: "text", value: row => row.file || "", cell: row => row.file ? chord.base(row.file) : ""}]),
		],
	});
	const totals = chord.objects(d.totals, keys);
	const header = h("header", {class: "about"}, h("h1", {}, chord.clean(chord.base(d.before)) + " → " + chord.clean(chord.base(d.after))),
		h("table", {class: "plain"}, h("tr", {}, h("th"), ["before", "after", "change", ""].map(t => h("th", {class: "number"}, t))),
			totals.map(row => h("tr", {}, h("th", {scope: "row"}, chord.clean(row.name)), h("td", {class: "number"}, number(row.before)),
				h("td", {class: "number"}, number(row.after)), h("td", {class: "number"}, signed(change(row))), h("td", {class: "number"}, percent(row))))),
		d.leftOut.length ? h("details", {}, h("summary", {}, number(d.leftOut.length) + " cannot be compared"), h("ul", {}, d.leftOut.map(([name, why]) =>
			h("li", {}, chord.clean(name + ": " + why))))) : null,
		h("nav", {class: "tabs", "aria-label": "Of the difference"}, chord.link("#/difference", "Functions", {"aria-current": what ? null : "page"}),
			chord.link("#/difference/lines", "Lines", {"aria-current": what ? "page" : null})));
	return {...table, node: h("div", {class: "page"}, header, table.node)};
}});
