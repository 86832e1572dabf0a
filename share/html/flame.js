// SPDX-License-Identifier: MIT
// Where instructions were executed, as boxes below one another. Call counts do not say by which chain of calls a function was reached,
// so there are two trees, each of which says only what is known:
// - within: below a function stand those that ran only while it was active (it dominates them in the graph of calls). A function that
//   was entered by ways that are not known stands at the top.
// - calls (-fchord=calls): below a function stand its calls with all that ran meanwhile. A callee that others called, too, is not split
//   further: how its callees share in this caller's part was not counted.
"use strict";

chord.flame = {};

// The immediate dominator of each function that ran, -1 for the top (Cooper, Harvey, Kennedy 2001).
chord.flame.dominators = function (graph) {
	const n = chord.functions.length, root = n, out = Array.from({length: n + 1}, () => []), into = Array.from({length: n + 1}, () => []);
	const ran = chord.functions.filter(f => chord.value(f.insns) > 0).map(f => f.id);
	const add = (from, to) => { out[from].push(to); into[to].push(from); };

	for (const id of ran) {
		if (graph.otherwise[id] === null || chord.value(graph.otherwise[id]) > 0 || chord.value(chord.functions[id].calls) === 0)
			add(root, id);
		for (const link of graph.into[id])
			if (chord.value(link.calls) !== 0)
				add(link.from, id);
	}
	const order = [], number = new Array(n + 1).fill(-1), seen = new Array(n + 1).fill(false);
	visit(root);
	// What is reached from nowhere, a circle whose beginning is not known, begins at the top.
	for (const id of ran)
		if (!seen[id]) {
			add(root, id);
			visit(id);
		}
	order.splice(order.indexOf(root), 1);
	order.push(root);
	order.forEach((v, i) => { number[v] = i; });

	function visit(start) {
		const stack = [[start, 0]];
		seen[start] = true;
		while (stack.length) {
			const top = stack[stack.length - 1], next = out[top[0]][top[1]++];
			if (next === undefined)
				order.push(stack.pop()[0]);
			else if (!seen[next]) {
				seen[next] = true;
				stack.push([next, 0]);
			}
		}
	}

	const parent = new Array(n + 1).fill(-1);
	parent[root] = root;
	for (let changed = true; changed;) {
		changed = false;
		for (let i = order.length - 2; i >= 0; i--) {
			let best = -1;
			for (const v of into[order[i]])
				if (parent[v] >= 0)
					best = best < 0 ? v : meet(v, best);
			if (best >= 0 && parent[order[i]] !== best) {
				parent[order[i]] = best;
				changed = true;
			}
		}
	}

	function meet(a, b) {
		while (a !== b) {
			while (number[a] < number[b])
				a = parent[a];
			while (number[b] < number[a])
				b = parent[b];
		}
		return a;
	}
	return {ran, parent: parent.map((p, v) => p === root || v === root ? -1 : p)};
};

// The tree of what ran only within what. Nodes: {name, id, self, note, children}; self is exact or bounds.
chord.flame.within = function (graph) {
	const {ran, parent} = chord.flame.dominators(graph);
	const top = {name: "all instructions", id: null, self: 0, children: []}, nodes = new Map();
	for (const id of ran)
		nodes.set(id, {name: chord.functions[id].name, id, self: chord.functions[id].insns, children: []});
	for (const id of ran)
		(parent[id] < 0 ? top : nodes.get(parent[id])).children.push(nodes.get(id));
	return top;
};

// The tree of calls with what ran meanwhile, from functions that only code outside of what is measured enters.
chord.flame.calls = function (graph) {
	const top = {name: "all that began outside", id: null, self: 0, children: []};
	const exact = n => chord.known(n) && !Array.isArray(n);

	function split(node, f, whole, above) {
		const links = graph.out[f.id].filter(link => exact(link.insns) && chord.value(link.insns) > 0);
		for (const link of links) {
			const g = link.to === null ? null : chord.functions[link.to];
			const child = {name: link.name, id: link.to, self: 0, children: []};
			const only = g && exact(g.calls) && String(g.calls) === String(link.calls) && !above.has(link.to);
			node.children.push(child);
			if (only && split(child, g, link.insns, new Set([...above, link.to])))
				continue;
			child.self = link.insns;
			child.children = [];
			child.note = g ? "others call it, too, or it calls itself: what it calls is not split" : "not measured: what it calls is not split";
		}
		node.self = f.insns;
		const rest = chord.minus(whole, chord.sum([f.insns, ...links.map(link => link.insns)]));
		if (Number(rest) > 0)
			node.children.push({name: "(through pointers)", id: null, self: rest, children: [], note: "calls through pointers, which lead to several"});
		return Number(rest) >= 0;
	}

	for (const f of chord.functions)
		if (chord.value(f.calls) > 0 && String(graph.otherwise[f.id]) === String(f.calls) && exact(f.insns)) {
			const node = {name: f.name, id: f.id, self: 0, children: []};
			const sums = graph.out[f.id].map(link => link.insns).filter(exact);
			if (split(node, f, chord.sum([f.insns, ...sums]), new Set([f.id])))
				top.children.push(node);
		}
	return top;
};

// ---- the drawing ----

// Of a tree; returns {node, key, focus}.
chord.flame.draw = function (tree, label) {
	const {h, svg, number} = chord, HEIGHT = 22;
	const canvas = svg("svg", {role: "img", "aria-hidden": "true"}), said = h("output", {class: "elsewhere", "aria-live": "polite"});
	const box = h("div", {class: "flame", tabindex: 0, role: "application", "aria-label": label}, canvas);
	const all = d3.hierarchy(tree).sum(d => Math.max(0, chord.value(d.self))).sort((a, b) => b.value - a.value);
	let root = all, current = all, groups = new Map();

	all.eachAfter(node => { node.exact = chord.sum([node.data.self, ...(node.children || []).map(c => c.exact)]); });

	function draw() {
		const width = box.clientWidth || 800, above = root.ancestors().slice(1).reverse();
		const x = d3.scaleLinear().domain([root.x0, root.x1]).range([0, width]);
		const shown = above.concat(root.descendants()).filter(n => n.x1 > n.x0);
		groups = new Map();
		canvas.replaceChildren(...shown.map(n => {
			const from = Math.max(0, x(n.x0)), to = Math.min(width, x(n.x1));
			return to - from < 0.7 ? null : part(n, from, to);
		}).filter(Boolean));
		canvas.setAttribute("height", (d3.max(shown, n => n.depth) + 1) * HEIGHT);
		mark();
	}

	function part(n, from, to) {
		const room = Math.floor((to - from - 8) / 7.3), name = n.data.name;
		const group = svg("g", {class: n.data.note ? "shared" : "", heat: Math.min(1, n.value ? chord.value(n.data.self) / all.value * 4 : 0),
			transform: "translate(" + from.toFixed(2) + "," + n.depth * HEIGHT + ")", onclick: () => { choose(n); }, ondblclick: () => enter(n)},
			svg("title", {}, tell(n)), svg("rect", {width: Math.max(0.7, to - from).toFixed(2), height: HEIGHT - 1}),
			room > 2 ? svg("text", {x: 5, y: 15}, chord.clean(name.length > room ? name.slice(0, room - 1) + "…" : name)) : null);
		groups.set(n, group);
		return group;
	}

	function tell(n) {
		return n.data.name + ": " + number(n.exact) + " instructions (" + chord.share(n.value, all.value) + "), " + number(n.data.self) +
			" of them its own" + (n.data.note ? "; " + n.data.note : "");
	}

	function mark() {
		for (const [n, group] of groups)
			group.classList.toggle("current", n === current);
		said.textContent = chord.clean(tell(current));
	}

	function choose(n) {
		if (!n)
			return;
		current = n;
		if (!groups.has(n))
			zoom(n);
		mark();
		groups.get(n)?.scrollIntoView({block: "nearest"});
	}

	function zoom(n) {
		root = n;
		draw();
	}

	function enter(n) {
		if (n.data.id !== null)
			chord.go("/function/" + n.data.id);
	}

	const beside = by => {
		const all = current.parent?.children || [];
		return all[all.indexOf(current) + by];
	};
	const keys = {
		ArrowDown: () => choose(current.children?.[0]), j: () => choose(current.children?.[0]),
		ArrowUp: () => choose(current.parent), k: () => choose(current.parent),
		ArrowLeft: () => choose(beside(-1)), ArrowRight: () => choose(beside(1)),
		"+": () => zoom(current), "-": () => zoom(root.parent || root), 0: () => zoom(all), Enter: () => enter(current),
	};

	d3.partition()(all);
	new ResizeObserver(draw).observe(box);
	return {node: h("div", {class: "page"}, box, said), focus: () => box.focus({preventScroll: true}), zoom: () => zoom(current),
		key: event => document.activeElement === box && event.key in keys && (keys[event.key](), true), tree: all, choose};
};

chord.views.push({name: "flame", title: "Flame graph", open: async ([what]) => {
	const {h} = chord, graph = await chord.callGraph();
	await chord.library("d3.min.js");
	const calls = what === "calls" && graph.summed;
	const tree = calls ? chord.flame.calls(graph) : chord.flame.within(graph);
	const drawn = chord.flame.draw(tree, "Flame graph");
	const tab = (href, title, on) => chord.link(href, title, {"aria-current": on ? "page" : null});
	const zoom = h("button", {type: "button", onclick: () => { drawn.zoom(); drawn.focus(); }}, "Zoom to the current box (+)");
	const about = calls ? "Below a function stand its calls, as wide as what ran between them and their returns. Grey boxes are not split: how much " +
		"of what they called was for this caller is not known." :
		"Below a function stand those that ran only while it was active, as wide as all they executed. A function that is called from several places " +
		"stands below the one that all its calls have in common; one that is entered by ways that are not known, as through pointers, stands at " +
		"the top." + (graph.summed ? "" : " What ran for each single caller only a build with -fchord=calls knows.");
	return {...drawn, node: h("div", {class: "page"}, h("header", {class: "about"}, h("nav", {class: "tabs", "aria-label": "Of the flame graph"},
		tab("#/flame", "Within", !calls), graph.summed ? tab("#/flame/calls", "Calls", calls) : null), h("p", {class: "dim"}, about), zoom), drawn.node)};
}});
