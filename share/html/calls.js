// SPDX-License-Identifier: MIT
// Which function calls which: the graph of calls, the table of calls, and the calls of one function.
"use strict";

// Calls as objects, and for each function the number of entries that these calls do not account for.
chord.callGraph = async function () {
	if (chord.callGraph.made)
		return chord.callGraph.made;
	const links = chord.objects(await chord.load("calls"), ["from", "to", "name", "way", "calls", "insns", "sites"]);
	const into = chord.functions.map(() => []), out = chord.functions.map(() => []);

	for (const link of links) {
		link.name = link.to === null ? link.name : chord.functions[link.to].name;
		out[link.from].push(link);
		if (link.to !== null)
			into[link.to].push(link);
	}
	// How often a function was entered in other ways: through pointers, by unmeasured code, or otherwise. null: not known.
	const otherwise = chord.functions.map((f, id) => {
		const known = chord.sum(into[id].map(link => link.calls));
		if (!chord.known(f.calls) || Array.isArray(f.calls) || known === null)
			return null;
		const rest = chord.minus(f.calls, known);
		return Number(rest) < 0 ? null : rest;
	});
	chord.callGraph.made = {links, into, out, otherwise, summed: links.some(link => chord.known(link.insns) && chord.value(link.insns) > 0)};
	return chord.callGraph.made;
};

chord.ways = {call: "by name", jump: "by a jump, as its last act", pointer: "through a pointer"};

chord.callColumns = function (what) {
	const {number} = chord.columns;
	const end = (key, title, id) => ({key, title, kind: "text", value: row => id(row) === null ? row.name : chord.functions[id(row)].name,
		cell: row => id(row) === null ? chord.h("em", {title: chord.clean(row.name)}, chord.clean(chord.shorter(row.name))) : chord.functionLink(id(row))});
	return [
		number("calls", "calls", "How often"),
		...(what.summed ? [number("insns", "instructions meanwhile", "Executed between the calls and their returns; of a recursion for " +
			"each call that is active")] : []),
		...(what.from ? [end("from", "caller", row => row.from)] : []), ...(what.to ? [end("to", "callee", row => row.to)] : []),
		{key: "way", title: "how", kind: "text", width: "13rem", value: row => row.way, cell: row => chord.ways[row.way]},
	];
};

chord.views.push({name: "calls", title: "Calls", open: async ([what]) => {
	const {h} = chord, graph = await chord.callGraph();
	const tabs = h("nav", {class: "tabs", "aria-label": "Of the calls"}, chord.link("#/calls", "Table", {"aria-current": what ? null : "page"}),
		chord.link("#/calls/graph", "Graph", {"aria-current": what ? "page" : null}));
	const about = h("p", {class: "dim"}, "Calls by name are counted where they stand, so they are exact. " + (graph.summed ?
		"This build has counted who was called through pointers, too, and what ran meanwhile." :
		"Who was called through pointers, and what ran between a call and its return, only a build with -fchord=calls knows."));
	if (what)
		return chord.wholeGraph(graph, h("header", {class: "about"}, tabs, about));
	const table = chord.grid({label: "Calls", rows: graph.links, sort: graph.summed ? "insns" : "calls",
		text: row => chord.functions[row.from].name + " " + row.name, open: row => row.to !== null && chord.go("/function/" + row.to),
		mark: row => chord.value(row.calls) === 0 ? "never" : "", columns: chord.callColumns({from: true, to: true, summed: graph.summed})});
	return {...table, node: h("div", {class: "page"}, h("header", {class: "about"}, tabs, about), table.node)};
}});

// A function, as a box.
chord.functionBox = function (id, more) {
	const {svg} = chord, f = chord.functions[id], brief = chord.brief(f.name), name = brief.length > 42 ? brief.slice(0, 41) + "…" : brief;
	const text = chord.number(f.insns), width = Math.max(7 * Math.max(name.length, text.length) + 20, 90);
	return {id, width, height: 40, class: more || "", label: f.name + ", " + text + " instructions", fill: group => group.append(
		svg("rect", {class: "warmth", heat: chord.heat(f.insns, chord.summary.totals.instructions), width, height: 40, rx: 4}),
		svg("text", {x: width / 2, y: 17, "text-anchor": "middle"}, chord.clean(name)),
		svg("text", {x: width / 2, y: 33, "text-anchor": "middle", class: "dim"}, text))};
};

chord.callEdges = function (links) {
	const most = links.reduce((n, link) => Math.max(n, chord.value(link.calls)), 1);
	return links.map(link => {
		const ran = chord.value(link.calls) > 0;
		return {id: link.id, from: link.from, to: link.to, text: chord.number(link.calls) + (link.way === "pointer" ? " *" : ""),
			title: chord.functions[link.from].name + " calls " + link.name + " " + chord.number(link.calls) + " times, " + chord.ways[link.way],
			class: !chord.known(link.calls) ? "lost" : ran ? "ran" : "never", heat: chord.heat(link.calls, most),
			width: ran ? 1 + 4 * Math.sqrt(chord.value(link.calls) / most) : 1};
	});
};

// Draws the hottest functions and the calls between them.
chord.wholeGraph = async function (graph, header) {
	const {h, number} = chord, SHOWN = 60;
	const ran = chord.functions.filter(f => chord.value(f.insns) > 0).sort((a, b) => chord.value(b.insns) - chord.value(a.insns));
	const shown = new Set(ran.slice(0, SHOWN).map(f => f.id));
	const links = graph.links.filter(link => shown.has(link.from) && shown.has(link.to) && chord.value(link.calls) > 0);
	const drawing = await chord.drawing({label: "Graph of calls", direction: "LR", middle: ran[0]?.id, nodes: [...shown].map(id => chord.functionBox(id)),
		edges: chord.callEdges(links), open: id => chord.go("/function/" + id + "/calls")});
	return {node: h("div", {class: "page"}, header, ran.length > SHOWN ? h("p", {class: "note"}, "Drawn: the " + number(SHOWN) +
		" functions of " + number(ran.length) + " that executed the most instructions, and the calls between them.") : null, drawing.node),
		key: drawing.key, focus: drawing.focus, drawing};
};

// ---- calls of one function ----

chord.callsOf = async function (f) {
	const {h, number} = chord, graph = await chord.callGraph(), SHOWN = 12;
	const hot = links => links.filter(link => chord.value(link.calls) > 0).sort((a, b) => chord.value(b.calls) - chord.value(a.calls));
	const callers = hot(graph.into[f.id]), callees = hot(graph.out[f.id]);
	const links = [...new Set([...callers.slice(0, SHOWN), ...callees.filter(link => link.to !== null).slice(0, SHOWN)])];
	const drawing = await chord.drawing({label: "Calls of " + f.name, direction: "LR", first: f.id,
		nodes: [...new Set([f.id, ...links.flatMap(link => [link.from, link.to])])].map(id => chord.functionBox(id)),
		edges: chord.callEdges(links), open: id => id !== f.id && chord.go("/function/" + id + "/calls")});
	const table = (label, rows, what) => chord.grid({label, rows, sort: "calls", least: "32rem", text: row => chord.functions[row.from].name + " " + row.name,
		open: row => (what.from ? chord.go("/function/" + row.from + "/calls") : row.to !== null && chord.go("/function/" + row.to + "/calls")),
		mark: row => chord.value(row.calls) === 0 ? "never" : "", columns: chord.callColumns({...what, summed: graph.summed})});
	const from = table("Callers", graph.into[f.id], {from: true}), to = table("Callees", graph.out[f.id], {to: true});
	const rest = graph.otherwise[f.id];
	return {node: h("div", {class: "page"}, h("p", {class: "dim"}, "Entered " + chord.times(f.calls) + ", " + (rest === null ?
		"how often otherwise than by these callers is not known." : chord.value(rest) === 0 ? "by these callers only." : number(rest) +
		" of them otherwise than by these callers: through pointers, from other objects, or by code that is not measured.") + (callers.length > SHOWN ||
		callees.length > SHOWN ? " Drawn: the " + SHOWN + " most frequent on each side." : "")),
		drawing.node, h("div", {class: "split"}, from.node, to.node)), focus: drawing.focus, key: drawing.key, drawing,
		filter: from.filter, lists: () => [{node: drawing.node, focus: drawing.focus, move() {}}, from.list, to.list]};
};
