// SPDX-License-Identifier: MIT
// Where instructions were executed, as boxes below one another. Counts of calls do not tell by which chain of calls a function was
// reached. So there are two trees, and each shows only what is known:
// - within: below a function are those that ran only while it was active (it dominates them in the graph of calls). A function that
//   was entered in unknown ways is at the top.
// - calls (-fchord=calls): below a function are its calls, with everything that ran meanwhile. If others also called a callee, the
//   callee is not split further, because it was not counted how its callees share in this caller's part. But it can be the root of
//   a tree of its own.
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
	// A circle of calls whose beginning is not known is not reached from anywhere, so it begins at the top.
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

// The tree of functions that ran only within another one. Nodes: {name, id, self, note, children}; self is exact or bounds.
chord.flame.within = function (graph) {
	const {ran, parent} = chord.flame.dominators(graph);
	const top = {name: "all instructions", id: null, self: 0, children: []}, nodes = new Map();
	for (const id of ran)
		nodes.set(id, {name: chord.functions[id].name, id, self: chord.functions[id].insns, children: []});
	for (const id of ran)
		(parent[id] < 0 ? top : nodes.get(parent[id])).children.push(nodes.get(id));
	return top;
};

const exact = n => chord.known(n) && !Array.isArray(n);

// May activations of a function be nested? Unmeasured code may call every function that is entered in unknown ways.
chord.flame.recurs = function (graph, start) {
	if (chord.functions[start].calls === 1)
		return false;
	const stack = [start], seen = new Set();
	let outside = false;
	while (stack.length)
		for (const link of graph.out[stack.pop()]) {
			if (chord.value(link.calls) === 0)
				continue;
			if (link.to !== null)
				reach(link.to);
			else if (!outside) {
				outside = true;
				chord.functions.forEach((f, id) => {
					if (chord.value(f.calls) !== 0 && (graph.otherwise[id] === null || chord.value(graph.otherwise[id]) > 0))
						reach(id);
				});
			}
			if (seen.has(start))
				return true;
		}

	function reach(id) {
		if (!seen.has(id)) {
			seen.add(id);
			stack.push(id);
		}
	}
	return false;
};

// The functions at which a tree of calls can begin: those entered only from outside, with the most executed instructions first. One
// may run within another, as a callback.
chord.flame.roots = graph => chord.functions.filter(f => chord.value(f.calls) > 0 && exact(f.insns) && String(graph.otherwise[f.id]) === String(f.calls))
	.map(f => [f, chord.value(chord.flame.whole(graph, f))]).filter(([, whole]) => whole > 0).sort((a, b) => b[1] - a[1]).map(([f]) => f);

// Everything that ran while a function was active, if its activations are not nested.
chord.flame.whole = (graph, f) => chord.sum([f.insns, ...graph.out[f.id].filter(link => link.way !== "jump").map(link => link.insns).filter(exact)]);

// The tree of all calls of a function, whoever called it, with everything that ran meanwhile. null: that is not known.
chord.flame.calls = function (graph, start) {
	const root = {name: chord.functions[start].name, id: start, self: 0, children: []};

	function split(node, f, whole) {
		const links = graph.out[f.id].filter(link => exact(link.insns) && chord.value(link.insns) > 0);
		const rest = chord.minus(whole, chord.sum([f.insns, ...links.map(link => link.insns)]));
		if (Number(rest) < 0)
			return false;
		node.self = f.insns;
		for (const link of links)
			node.children.push(callee(link));
		if (Number(rest) > 0)
			node.children.push({name: "(through pointers)", id: null, self: rest, children: [], note: "calls through pointers that lead to several functions"});
		return true;
	}

	// A callee is split further if all its calls are these.
	function callee(link) {
		const child = {name: link.name, id: link.to, self: link.insns, children: []};
		const g = link.to === null ? null : chord.functions[link.to];
		if (g && exact(g.calls) && exact(g.insns) && String(g.calls) === String(link.calls) && split(child, g, link.insns))
			return child;
		child.note = !g ? "in another object, or not measured: what it calls is not split" : graph.out[g.id].some(l => chord.value(l.calls) !== 0) ?
			"others call it, too, or it calls itself: how what it calls is shared is not known; Enter shows all calls of it" : "others call it, too";
		return child;
	}

	const f = chord.functions[start];
	if (!exact(f.insns) || chord.flame.recurs(graph, start) || graph.out[start].some(link => link.way !== "jump" && !exact(link.insns) && chord.value(link.calls) !== 0 && link.way !== "pointer"))
		return null;
	return split(root, f, chord.flame.whole(graph, f)) ? root : null;
};

// ---- the drawing ----

// Draws a tree; returns {node, focus, zoom, key, tree, choose}.
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
		const room = Math.floor((to - from - 8) / 7.3), name = chord.brief(n.data.name);
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
			chord.go(n.data.note && n !== all ? "/flame/calls/" + n.data.id : "/function/" + n.data.id);
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

chord.views.push({name: "flame", title: "Flame graph", open: async ([what, start]) => {
	const {h} = chord, graph = await chord.callGraph();
	await chord.library("d3.min.js");
	const calls = what === "calls" && graph.summed, roots = calls ? chord.flame.roots(graph) : [];
	const root = calls ? chord.functions[start ?? roots[0]?.id] : null;
	const tree = calls ? root && chord.flame.calls(graph, root.id) : chord.flame.within(graph);
	const drawn = tree ? chord.flame.draw(tree, "Flame graph") : chord.missing(root ? root.name + " may call itself, directly or through others: what " +
		"ran during its calls is counted for each of them that was active, so it has no tree. Its callees may have one." : "Nothing was entered from outside.");
	const tab = (href, title, on) => chord.link(href, title, {"aria-current": on ? "page" : null});
	const about = calls ? "Below a function stand its calls, as wide as what ran between them and their returns. Grey boxes are not split: others " +
		"call these functions, too, and how much of what they called was for this caller is not known." :
		"Below a function stand those that ran only while it was active, as wide as all they executed. A function that is called from several places " +
		"stands below the one that all its calls have in common; one that is entered by ways that are not known, as through pointers, stands at " +
		"the top. A jump to a function as the last act of another is taken as a call." + (graph.summed ? "" : " What ran for each single caller only a build with -fchord=calls knows.");
	const tools = h("div", {class: "tools"},
		tree ? h("button", {type: "button", onclick: () => { drawn.zoom(); drawn.focus(); }}, "Zoom to the current box (+)") : null,
		calls ? h("label", {}, "All calls of ", choice()) : null);

	function choice() {
		const all = root && !roots.includes(root) ? [root, ...roots] : roots;
		return h("select", {onchange: event => chord.go("/flame/calls/" + event.target.value)}, all.slice(0, 200).map(f =>
			h("option", {value: f.id, selected: f === root}, chord.clean(f.name))));
	}
	return {...drawn, node: h("div", {class: "page"}, h("header", {class: "about"}, h("nav", {class: "tabs", "aria-label": "Of the flame graph"},
		tab("#/flame", "Within", !calls), graph.summed ? tab("#/flame/calls", "Calls", calls) : null), h("p", {class: "dim"}, about), tools), drawn.node)};
}});
