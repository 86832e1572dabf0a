// SPDX-License-Identifier: MIT
// The control-flow graph of a function, with the counts of its edges, and its hottest paths drawn on it.
"use strict";

chord.flowView = async function (f, data, rest) {
	const {h, svg, number} = chord;
	const LARGE = 160; // more blocks would take long to lay out, and would be too many to look at
	const nblock = data.blocks.length, entry = nblock, exit = nblock + 1;
	const insns = data.blocks.map(() => []);
	const most = data.edges.reduce((n, e) => e[2] === "close" ? n : Math.max(n, chord.value(e[3])), 1);
	const hottest = data.blocks.reduce((n, b) => Math.max(n, chord.value(b)), 1);
	const place = h("div", {class: "place"}), before = data.before?.why ? null : data.before;
	let chosen = new Set(choose()), drawing;

	data.insns.forEach(row => insns[row[0]].push(row));

	// Chooses all vertices, or those around a block, or the hottest blocks with ENTRY and EXIT.
	function choose() {
		const all = Array.from({length: nblock + data.vertices.length}, (_, i) => i);
		if (nblock <= LARGE)
			return all;
		if (rest.length)
			return around(Number(rest[0]));
		return all.slice(0, nblock).sort((a, b) => chord.value(data.blocks[b]) - chord.value(data.blocks[a]) || a - b).slice(0, LARGE / 2)
			.concat(all.slice(nblock));
	}

	function around(block) {
		const near = new Set([block]);
		for (let grown = true; grown && near.size < LARGE / 2;) {
			grown = false;
			for (const [from, to] of data.edges)
				if (near.size < LARGE / 2 && near.has(from) !== near.has(to) && from !== exit) {
					near.add(from).add(to);
					grown = true;
				}
		}
		return near;
	}

	// " (+5)" after a count that has changed.
	function changed(then, now) {
		const n = chord.change(then, now);
		return n === null ? " (?)" : Number(n) ? " (" + chord.signed(n) + ")" : "";
	}

	const nameOf = v => v < nblock ? "block " + v : data.vertices[v - nblock];

	// ---- boxes ----

	// The lines of a block's code, in order, without repeating a line directly.
	function linesOf(block) {
		const lines = [];
		for (const row of insns[block]) {
			if (row[4] === null)
				continue;
			const at = row[4] === f.file ? String(row[5]) : chord.place(row[4], row[5]);
			if (lines[lines.length - 1] !== at)
				lines.push(at);
		}
		return lines;
	}

	const clip = (text, n) => text.length > n ? text.slice(0, n - 1) + "…" : text;

	function textOf(block) {
		const show = chosen.size <= 40 ? 8 : 3, rows = insns[block].filter(row => row[3] !== "(padding)");
		const text = rows.slice(0, rows.length > show ? show - 1 : show).map(row => clip(chord.insnText(row) +
			(Array.isArray(row[6]) ? " " + chord.clean(row[6][0]) : ""), 40));
		if (rows.length > show)
			text.push("… " + number(rows.length - show + 1) + " more");
		return text;
	}

	function box(v) {
		if (v >= nblock)
			return {id: v, width: 90, height: 26, label: nameOf(v), class: "outer", fill: group => group.append(
				svg("text", {x: 45, y: 17, "text-anchor": "middle", class: "dim"}, nameOf(v)))};
		const count = data.blocks[v], heat = chord.heat(count, hottest), lines = textOf(v), where = clip(linesOf(v).join(" "), 34);
		const head = v + "  " + number(count) + (before ? changed(before.blocks[v], count) : ""), never = chord.known(count) && chord.value(count) === 0;
		const width = Math.max(110, 7 * Math.max(head.length + where.length + 3, ...lines.map(line => line.length)) + 18);
		return {id: v, width, height: 24 + lines.length * 15 + (lines.length ? 6 : 0), class: never ? "never" : "",
			label: "block " + v + ", entered " + number(count) + " times" + (before ? ", before " + number(before.blocks[v]) : "") + (where ? ", lines " + where : ""),
			fill: group => group.append(svg("rect", {class: "warmth", heat, width: width, height: 22, rx: 4}),
				svg("text", {x: 8, y: 15.5}, head), svg("text", {x: width - 8, y: 15.5, "text-anchor": "end", class: "dim"}, where),
				...lines.map((line, i) => svg("text", {x: 8, y: 38 + i * 15}, line)))};
	}

	// ---- edges ----

	function line([from, to, kind, count], id) {
		const known = chord.known(count), ran = known && chord.value(count) > 0;
		return {id, from, to, text: number(count) + (before ? changed(before.edges[id], count) : ""),
			title: nameOf(from) + " to " + nameOf(to) + " (" + kind + "): " + number(count) + (before ? ", before " + number(before.edges[id]) : ""),
			class: (!known ? "lost" : ran ? "ran" : "never") + (before ? " " + chord.direction(chord.change(before.edges[id], count)) : ""), width: ran ? 1.2 + 4.8 * Math.sqrt(chord.value(count) / most) : 1,
			heat: chord.heat(count, most), weight: ran ? 1 + Math.round(8 * chord.value(count) / most) : 1};
	}

	const order = v => v === entry ? -1 : v;

	// Lays out the chosen vertices anew.
	async function draw() {
		const edges = data.edges.map(line).filter((e, i) => data.edges[i][2] !== "close" && chosen.has(e.from) && chosen.has(e.to));
		const used = new Set(edges.flatMap(e => [e.from, e.to]));
		const nodes = [...chosen].sort((a, b) => order(a) - order(b)).filter(v => v < nblock || used.has(v)).map(box);
		const hot = nodes.reduce((best, n) => n.id < nblock && (best === null || chord.value(data.blocks[n.id]) > chord.value(data.blocks[best])) ? n.id : best, null);
		drawing = await chord.drawing({label: "Control-flow graph of " + f.name, nodes, edges, middle: hot,
			first: rest.length ? Number(rest[0]) : undefined, open: id => id < nblock && chord.go("/function/" + f.id + "/code/" + id)});
		place.replaceChildren(note(nblock - nodes.filter(n => n.id < nblock).length), before ? h("p", {class: "dim"},
			"Counts of this run, in brackets what they are more or less than before.") : chord.notCompared(data, "p") ?? "", drawing.node);
	}

	function note(left) {
		if (!left)
			return "";
		const input = h("input", {type: "number", min: 0, max: nblock - 1, "aria-label": "Draw what is around the block of that number",
			onchange: () => chord.go("/function/" + f.id + "/graph/" + input.value)});
		return h("p", {class: "note"}, "Drawn: " + number(nblock - left) + " of " + number(nblock) + " blocks, " +
			(rest.length ? "those around block " + rest[0] : "the hottest ones") + ", and the edges between them; the other " + number(left) +
			" are left out. Around block ", input);
	}

	// ---- paths ----

	// In a large function, the blocks of a path may have to be drawn first.
	async function showPath(way) {
		const all = way.flatMap(e => data.edges[e].slice(0, 2));
		if (all.some(v => !chosen.has(v))) {
			chosen = new Set([...chosen, ...all]);
			await draw();
		}
		drawing.path(way);
		drawing.show(data.edges[way[0]][0] < nblock ? data.edges[way[0]][0] : data.edges[way[0]][1]);
	}

	function paths() {
		const all = data.paths.hottest;
		const list = chord.list({label: "Hottest paths", count: all.length, height: 42, row: i => {
			const [count, length, total, exact, way] = all[i];
			return h("div", {class: "path"}, h("b", {}, (exact ? "" : "about ") + number(count) + " ×"),
				h("span", {class: "number"}, number(total)), h("span", {class: "dim"}, number(length) + " instructions"),
				h("span", {class: "number dim"}, clip(way.map(e => data.edges[e][0]).filter(v => v < nblock).join(" "), 24)));
		}, select: i => showPath(all[i][4])});
		return [list, h("section", {class: "pane"}, h("div", {class: "pane-title"}, number(data.paths.ran) + " of " +
			(chord.known(data.paths.possible) ? number(data.paths.possible) : "too many") + " paths ran",
			data.paths.why ? h("em", {}, chord.clean(data.paths.why)) : null), list.node)];
	}

	await draw();
	const [list, pane] = data.paths ? paths() : [];
	return {node: pane ? h("div", {class: "with-paths"}, place, pane) : place, focus: () => drawing.focus(), key: event => drawing.key(event),
		lists: () => [{get node() { return drawing.node; }, focus: () => drawing.focus(), move() {}}, list].filter(Boolean)};
};
