// SPDX-License-Identifier: MIT
// A list of any length. Only the visible rows have elements. All rows have the same height.
"use strict";

// options: label, count, height (pixels), row(i) -> element, role, rowRole; select(i, user): i has become the current row, `user`:
// by the user; open(i): Enter or a double click. Returns {node, current, select(i, user), show(i), refresh(count), focus(),
// move(by)}.
chord.list = function (options) {
	const {h} = chord;
	const height = options.height || 24;
	const slice = h("div", {class: "slice", role: "presentation"});
	const spacer = h("div", {class: "spacer", role: "presentation"}, slice);
	const node = h("div", {
		class: "list " + (options.class || ""), tabindex: 0, role: options.role || "listbox", "aria-label": options.label,
		onscroll: () => draw(false), onkeydown: keyed, onclick: clicked, ondblclick: opened,
	}, spacer);
	const id = "list" + (chord.list.number = (chord.list.number || 0) + 1);
	const list = {node, current: -1, select, show, refresh, focus: () => node.focus({preventScroll: true}), move};
	let from = 0, to = 0;

	function draw(all) {
		const first = Math.max(0, Math.floor(node.scrollTop / height) - 10);
		const last = Math.min(options.count, Math.ceil((node.scrollTop + node.clientHeight) / height) + 10);
		if (!all && first === from && last === to)
			return;
		from = first;
		to = last;
		const rows = [];
		for (let i = first; i < last; i++)
			rows.push(rowAt(i));
		slice.replaceChildren(...rows);
		slice.style.transform = "translateY(" + first * height + "px)";
		mark();
	}

	function rowAt(i) {
		const row = options.row(i);
		row.id = id + "-" + i;
		row.dataset.row = i;
		row.classList.add("row");
		row.style.height = height + "px";
		row.setAttribute("role", options.rowRole || "option");
		row.setAttribute("aria-" + (options.rowRole === "row" ? "rowindex" : "posinset"), i + 1);
		if (options.rowRole !== "row")
			row.setAttribute("aria-setsize", options.count);
		return row;
	}

	function mark() {
		for (const row of slice.children)
			row.setAttribute("aria-selected", Number(row.dataset.row) === list.current);
		if (list.current >= from && list.current < to)
			node.setAttribute("aria-activedescendant", id + "-" + list.current);
		else
			node.removeAttribute("aria-activedescendant");
	}

	function refresh(count) {
		if (count !== undefined)
			options.count = count;
		list.current = Math.min(list.current, options.count - 1);
		if (options.role === "grid")
			node.setAttribute("aria-rowcount", options.count);
		spacer.style.height = options.count * height + "px";
		draw(true);
	}

	// Scrolls so that the row is visible. A row that was not visible and is not next to the current one comes to the middle.
	function show(i) {
		const top = i * height, low = node.scrollTop, high = low + node.clientHeight;
		if (top < low || top + height > high)
			node.scrollTop = top - (i === list.current + 1 || i === list.current - 1 ? (top < low ? 0 : node.clientHeight - height)
				: Math.max(0, node.clientHeight / 2 - height));
		draw(false);
	}

	function select(i, user) {
		if (!options.count)
			return;
		i = Math.max(0, Math.min(options.count - 1, i));
		show(i);
		list.current = i;
		mark();
		options.select?.(i, user);
	}

	function move(by) {
		const first = Math.floor(node.scrollTop / height + 0.99);
		select(list.current >= 0 ? list.current + by : Math.abs(by) === 1 ? first : first + by, true);
	}

	function keyed(event) {
		if (event.ctrlKey || event.metaKey || event.altKey)
			return;
		const page = Math.max(1, Math.floor(node.clientHeight / height) - 1);
		const steps = {ArrowDown: 1, ArrowUp: -1, j: 1, k: -1, PageDown: page, PageUp: -page, Home: -options.count, End: options.count};
		if (event.key in steps)
			move(steps[event.key]);
		else if (event.key === "Enter" && list.current >= 0 && event.target === node)
			options.open?.(list.current);
		else
			return;
		event.preventDefault();
		event.stopPropagation();
	}

	function rowOf(event) {
		const row = event.target.closest("[data-row]");
		return row && node.contains(row) ? Number(row.dataset.row) : -1;
	}

	function clicked(event) {
		const i = rowOf(event);
		if (i >= 0 && !event.target.closest("a, button"))
			select(i, true);
	}

	function opened(event) {
		const i = rowOf(event);
		if (i >= 0 && !event.target.closest("a, button"))
			options.open?.(i);
	}

	new ResizeObserver(() => draw(true)).observe(node);
	refresh();
	return list;
};
