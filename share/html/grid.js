// SPDX-License-Identifier: MIT
// Tables: a list with columns that can be sorted, and a filter.
"use strict";

// options: label, rows, open(row), sort (key of the column), columns: {key, title, hint, width (of a grid's track), kind: "number"
// or "text", cell(row) -> node or text, value(row) -> the sort key, heat(row) -> 0 to 1}, text(row): the text to filter, least: the
// width that the columns need, wanted(row): further conditions, changed(rows): other rows are shown. The result has narrow(), which
// is to be called when conditions have changed.
chord.grid = function (options) {
	const {h} = chord;
	// Numbers are never cut off: columns are wider by so much where one is longer than usual.
	const more = options.columns.map(c => c.width || c.kind !== "number" ? 0 :
		options.rows.reduce((most, row) => Math.max(most, chord.number(valueOf(c, row)).length - 16), 0) / 2);
	const tracks = options.columns.map((c, i) => c.width || (c.kind === "number" ? 9.5 + more[i] + "rem" : "minmax(8rem, 1fr)")).join(" ");
	const count = h("output", {class: "count", "aria-live": "polite"});
	const filter = h("input", {
		type: "search", class: "filter", placeholder: "filter  /", "aria-label": "Filter " + options.label, spellcheck: "false",
		autocomplete: "off", oninput: narrow, onkeydown: filterKeyed,
	});
	const heads = options.columns.map(head);
	const list = chord.list({
		label: options.label, count: 0, height: 26, role: "grid", rowRole: "row", row: i => rowOf(shown[i]),
		open: i => options.open?.(shown[i]), select: (i, user) => options.select?.(shown[i], user),
	});
	const header = h("div", {class: "heads", role: "row"}, heads);
	const node = h("section", {class: "table"},
		h("div", {class: "tools"}, filter, options.tools, count), h("div", {class: "scroll"}, header, list.node));
	let sorted = [], shown = [], key = options.sort, down = true;

	for (const row of [header, list.node]) {
		row.style.setProperty("--tracks", tracks);
		row.style.setProperty("--least", "calc(" + (options.least || "58rem") + " + " + more.reduce((a, b) => a + b, 0) + "rem)");
	}

	function head(column) {
		return h("button", {
			type: "button", role: "columnheader", class: column.kind === "number" ? "head number" : "head", title: column.hint,
			"data-key": column.key, onclick: () => sortBy(column.key),
		}, column.title);
	}

	function columnOf(name) {
		return options.columns.find(c => c.key === name);
	}

	function valueOf(column, row) {
		return column.value ? column.value(row) : row[column.key];
	}

	function sortBy(name) {
		down = key === name ? !down : columnOf(name).kind === "number";
		key = name;
		sort();
		list.node.scrollTop = 0;
	}

	function sort() {
		const column = columnOf(key), sign = down ? -1 : 1;
		if (column.kind === "number") {
			const values = new Map(options.rows.map(row => [row, chord.value(valueOf(column, row))]));
			sorted = options.rows.slice().sort((a, b) => sign * (values.get(a) - values.get(b)) || a.id - b.id);
		} else {
			const collate = new Intl.Collator("en", {numeric: true}).compare;
			sorted = options.rows.slice().sort((a, b) => sign * collate(valueOf(column, a), valueOf(column, b)) || a.id - b.id);
		}
		for (const element of heads)
			element.setAttribute("aria-sort", element.dataset.key !== key ? "none" : down ? "descending" : "ascending");
		narrow();
	}

	// The row has to contain all words of the filter; * stands for any text, ? for any character.
	function narrow() {
		const words = filter.value.trim().toLowerCase().split(/\s+/).filter(Boolean).map(matcher);
		shown = words.length || options.wanted ? sorted.filter(row => {
			const text = options.text(row).toLowerCase();
			return words.every(matches => matches(text)) && options.wanted?.(row) !== false;
		}) : sorted;
		count.textContent = shown.length === options.rows.length ? chord.group(shown.length) + " " + options.label.toLowerCase().slice(0, shown.length === 1 ? -1 : undefined)
			: chord.group(shown.length) + " of " + chord.group(options.rows.length);
		list.current = -1;
		list.refresh(shown.length);
		options.changed?.(shown);
	}

	function matcher(word) {
		if (!/[*?]/.test(word))
			return text => text.includes(word);
		const pattern = new RegExp(word.replace(/[.+^${}()|[\]\\]/g, "\\$&").replace(/\*/g, ".*").replace(/\?/g, "."));
		return text => pattern.test(text);
	}

	function filterKeyed(event) {
		if (event.key === "Escape") {
			if (filter.value) {
				filter.value = "";
				narrow();
			}
			list.focus();
		} else if (event.key === "Enter" || event.key === "ArrowDown") {
			list.focus();
			list.select(0, true);
		} else {
			return;
		}
		event.preventDefault();
		event.stopPropagation();
	}

	function rowOf(row) {
		return h("div", {class: options.mark?.(row)}, options.columns.map(column => {
			const content = column.cell ? column.cell(row) : column.kind === "number" ? chord.number(row[column.key]) : row[column.key];
			const heat = column.heat?.(row);
			return h("div", {
				role: "gridcell", class: (column.kind === "number" ? "number" : "text") + (heat ? " hot" : "") +
					(column.kind === "number" && content === "?" ? " unknown" : ""), heat: heat || null,
				title: content === "?" ? "not known" : column.kind === "number" ? null : content.textContent ?? content,
			}, typeof content === "string" ? chord.clean(content) : content);
		}));
	}

	sort();
	return {node, list, filter, focus: list.focus, narrow};
};
