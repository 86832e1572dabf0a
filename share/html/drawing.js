// SPDX-License-Identifier: MIT
// Drawings of graphs: dagre lays them out, d3 moves and zooms them.
"use strict";

// options: label, direction ("TB" or "LR"), nodes: [{id, width, height, label, class, fill(g)}], edges: [{id, from, to, text,
// title, class, width, heat, weight}], first: the current node at first, middle: the node to show, select(id): a node has become
// the current one, open(id): Enter or a double click. Returns {node, select(id), path(ids of edges), key(event), show(id), focus(),
// fit()}.
chord.drawing = async function (options) {
	const {h, svg} = chord;
	await Promise.all([chord.library("d3.min.js"), chord.library("dagre.min.js")]);
	const layout = place(options), byId = new Map(options.nodes.map(n => [n.id, n]));
	const scene = svg("g"), canvas = svg("svg", {role: "img", "aria-hidden": "true"}, arrows(), scene);
	const said = h("p", {class: "skip", "aria-live": "polite"});
	const node = h("div", {class: "drawing", tabindex: 0, role: "application", "aria-label": options.label}, canvas, said);
	const order = options.nodes.map(n => n.id), groups = new Map(), lines = new Map();
	const zoom = d3.zoom().scaleExtent([0.02, 4]).on("zoom", () => scene.setAttribute("transform", d3.event.transform));
	const drawing = {node, current: null, select, path, key, show, focus: () => node.focus({preventScroll: true}), fit};

	for (const edge of options.edges)
		scene.append(drawEdge(edge));
	for (const n of options.nodes)
		scene.append(drawNode(n));
	d3.select(canvas).call(zoom).on("dblclick.zoom", null);
	new ResizeObserver((entries, self) => {
		if (node.clientWidth) {
			self.disconnect();
			fit();
			if (options.first !== undefined)
				select(options.first, true);
			// A graph that would be too small to read is not shown whole at first.
			const middle = options.first ?? options.middle;
			if (middle !== undefined && middle !== null && d3.zoomTransform(canvas).k < 0.5)
				show(middle);
		}
	}).observe(node);

	function arrows() {
		return svg("defs", {}, svg("marker", {id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8,
			markerUnits: "userSpaceOnUse", orient: "auto-start-reverse"}, svg("path", {d: "M0 0L8 4L0 8z", fill: "context-stroke"})));
	}

	function drawNode(n) {
		const at = layout.node(n.id);
		const group = svg("g", {class: "node " + (n.class || ""), "data-node": n.id,
			transform: "translate(" + (at.x - n.width / 2) + "," + (at.y - n.height / 2) + ")",
			onclick: () => select(n.id), ondblclick: () => options.open?.(n.id)},
			svg("title", {}, n.label), svg("rect", {width: n.width, height: n.height, rx: 4}));
		n.fill(group);
		groups.set(n.id, group);
		return group;
	}

	function drawEdge(e) {
		const at = layout.edge({v: String(e.from), w: String(e.to), name: String(e.id)});
		const curve = d3.line().x(p => p.x).y(p => p.y).curve(d3.curveBasis);
		const line = svg("path", {d: curve(at.points),
			"marker-end": "url(#arrow)", "stroke-width": e.width || 1});
		const group = svg("g", {class: "edge " + (e.class || ""), heat: e.heat || 0, "data-edge": e.id}, svg("title", {}, e.title || ""), line,
			e.text ? svg("text", {x: at.x, y: at.y + 4, "text-anchor": "middle"}, e.text) : null);
		lines.set(e.id, group);
		return group;
	}

	function fit() {
		const {width, height} = layout.graph();
		const scale = Math.min(1, Math.max(0.05, 0.96 * Math.min(node.clientWidth / width, node.clientHeight / height)));
		d3.select(canvas).call(zoom.transform, d3.zoomIdentity
			.translate((node.clientWidth - width * scale) / 2, Math.max(8, (node.clientHeight - height * scale) / 2)).scale(scale));
	}

	// Scrolls to a node, and makes it large enough to be read.
	function show(id) {
		if (!byId.has(id) || !node.clientWidth)
			return;
		const at = layout.node(id), now = d3.zoomTransform(canvas), scale = Math.max(now.k, 0.7);
		const x = now.applyX(at.x), y = now.applyY(at.y);
		if (now.k >= 0.7 && x > 40 && y > 40 && x < node.clientWidth - 40 && y < node.clientHeight - 40)
			return;
		d3.select(canvas).call(zoom.transform, d3.zoomIdentity
			.translate(node.clientWidth / 2 - at.x * scale, node.clientHeight / 2 - at.y * scale).scale(scale));
	}

	function select(id, far) {
		if (!byId.has(id))
			return false;
		groups.get(drawing.current)?.classList.remove("current");
		groups.get(id).classList.add("current");
		drawing.current = id;
		said.textContent = byId.get(id).label;
		if (!far)
			show(id);
		options.select?.(id);
		return true;
	}

	function path(edges) {
		const on = new Set(edges);
		for (const [id, group] of lines)
			group.classList.toggle("onpath", on.has(id));
	}

	function step(by) {
		const at = order.indexOf(drawing.current);
		select(order[Math.max(0, Math.min(order.length - 1, at < 0 ? 0 : at + by))]);
	}

	const keys = {
		j: () => step(1), k: () => step(-1), ArrowDown: () => step(1), ArrowUp: () => step(-1),
		"+": () => d3.select(canvas).call(zoom.scaleBy, 1.3), "-": () => d3.select(canvas).call(zoom.scaleBy, 1 / 1.3),
		0: fit, Enter: () => drawing.current !== null && options.open?.(drawing.current),
	};

	function key(event) {
		if (node !== document.activeElement || !(event.key in keys))
			return false;
		keys[event.key]();
		return true;
	}
	return drawing;
};

function place({nodes, edges, direction}) {
	const graph = new dagre.graphlib.Graph({multigraph: true});
	graph.setGraph({rankdir: direction || "TB", nodesep: 28, edgesep: 16, ranksep: direction === "LR" ? 90 : 36, marginx: 12, marginy: 12,
		ranker: nodes.length > 120 ? "longest-path" : "network-simplex"});
	for (const n of nodes)
		graph.setNode(String(n.id), {width: n.width, height: n.height});
	for (const e of edges)
		graph.setEdge(String(e.from), String(e.to), {width: e.text ? e.text.length * 7 + 6 : 1, height: e.text ? 16 : 1, labelpos: "c",
			weight: e.weight || 1}, String(e.id));
	dagre.layout(graph);
	return graph;
}
