// SPDX-License-Identifier: MIT
// A function: its source and instructions side by side, its graph, its calls.
"use strict";

// The instructions of a function's data, as rows of a list, with a heading before each block.
chord.asmPane = function (data, f, options) {
	const {h, number} = chord;
	const before = data.before?.insns, rows = [], most = data.insns.reduce((n, row) => Math.max(n, chord.value(row[2])), 1);
	let marked = new Set();

	data.insns.forEach((row, i) => {
		if (!i || row[0] !== data.insns[i - 1][0])
			rows.push({block: row[0]});
		rows.push({insn: row, i});
	});
	const list = chord.list({label: "Instructions of " + f.name, count: rows.length, height: 20, class: "code", row: draw,
		select: (i, user) => options.select?.(rows[i].insn, user, rows[i]),
		open: i => follow(rows[i].insn)});
	chord.widest(list.node, 70);

	function draw(i) {
		const {block, insn} = rows[i];
		return insn ? drawInsn(insn, rows[i].i) : h("div", {class: "block"}, h("span", {class: "n number"}, number(data.blocks[block])),
			before ? chord.changeCell(data.before.blocks[block], data.blocks[block]) : null, h("span", {}, "block " + block));
	}

	function drawInsn(row, i) {
		const [, addr, count, , file, line, target, ways] = row;
		const heat = chord.heat(count, most);
		return h("div", {class: "line " + (!chord.known(count) ? "lost" : chord.value(count) === 0 ? "never" : "ran") +
			(marked.has(i) ? " marked" : ""), heat: heat || null},
			h("span", {class: "n number" + (heat ? " hot" : "")}, chord.mark(count)),
			before ? chord.changeCell(before[i], count) : null, h("span", {class: "no"}, addr),
			h("span", {class: "text"}, chord.insnText(row), leads(target)),
			ways ? h("span", {class: "ways"}, h("span", {class: ways.some(n => chord.value(n) === 0) ? "one" : "",
				title: "taken " + number(ways[0]) + ", not taken " + number(ways[1])}, chord.taken(...ways))) : null,
			h("span", {class: "at", title: file === null ? null : chord.files[file].name + ":" + line},
				file === null ? "" : file === f.file ? line : chord.place(file, line)));
	}

	function leads(target) {
		if (target === null)
			return null;
		if (!Array.isArray(target))
			return h("span", {class: "to"}, " → block " + target);
		return h("span", {class: "to"}, " ", target[1] === null ? chord.clean(target[0]) : chord.functionLink(target[1], target[0]));
	}

	// Enter on a jump goes to its block, Enter on a call to the function.
	function follow(insn) {
		if (!insn || insn[6] === null)
			return;
		if (!Array.isArray(insn[6]))
			list.select(rows.findIndex(row => row.block === insn[6]), true);
		else if (insn[6][1] !== null)
			chord.go("/function/" + insn[6][1]);
	}

	function mark(file, line) {
		marked = new Set(data.insns.flatMap((row, i) => row[4] === file && row[5] === line ? [i] : []));
		list.refresh();
	}

	// Selects the hottest instruction of a line; of several, the first one.
	function reveal(file, line) {
		let best = -1;
		rows.forEach((row, i) => {
			if (row.insn && row.insn[4] === file && row.insn[5] === line &&
				(best < 0 || chord.value(row.insn[2]) > chord.value(rows[best].insn[2])))
				best = i;
		});
		if (best >= 0)
			list.select(best, false);
		return best >= 0;
	}

	const node = h("section", {class: "pane asm"}, h("div", {class: "pane-title"}, h("span", {class: "head number"}, "count"),
			before ? h("span", {class: "head number"}, "change") : null, h("span", {class: "where"}, "instructions as built, without Chord's own",
				chord.notCompared(data, "em"))), list.node);
	chord.digits(node, most);
	return {list, mark, reveal, rows, revealBlock: block => list.select(rows.findIndex(row => row.block === block), true), node};
};

// Says why a function is not compared with the earlier run, if it is not.
chord.notCompared = (data, tag) => data.before?.why ? chord.h(tag, {class: "why"}, " not compared: " + chord.clean(data.before.why)) : null;

chord.codeView = function (f, data, rest) {
	const {h} = chord;
	const elsewhere = h("p", {class: "elsewhere", "aria-live": "polite"});
	const asm = chord.asmPane(data, f, {select: chosen});
	const source = chord.sourcePane({select: (line, row, user) => {
		if (!user)
			return;
		asm.mark(source.file, line);
		asm.reveal(source.file, line);
		tell(source.file, line, row && !asm.rows.some(r => r.insn && r.insn[4] === source.file && r.insn[5] === line)
			? " has code, but none in this function" : "");
	}});
	const home = f.file < chord.listed ? f.file : data.insns.find(row => row[4] !== null)?.[4];

	// Shows the line of an instruction. Inlined code has other lines, or lines of another file.
	function chosen(insn, user) {
		if (!user || !insn || insn[4] === null)
			return;
		const [file, line] = [insn[4], insn[5]];
		asm.mark(file, line);
		source.show(file, line).then(() => source.mark([line]));
		tell(file, line, "");
	}

	function tell(file, line, what) {
		elsewhere.textContent = chord.place(file, line) + what;
	}

	if (home === undefined) {
		elsewhere.textContent = "No line numbers are known of this function: was it built with -g?";
	} else {
		const [file, line] = rest.length === 2 ? rest.map(Number) : [home, f.line];
		source.show(file, line);
		asm.mark(file, line);
		if (rest.length === 2)
			asm.reveal(file, line);
		else if (rest.length === 1)
			asm.revealBlock(Number(rest[0]));
	}
	return {node: h("div", {class: "page"}, h("div", {class: "split"}, home === undefined ? null : source.node, asm.node), elsewhere),
		focus: () => asm.list.focus(), lists: () => [source.list, asm.list].filter(Boolean), key: source.key};
};

chord.routes.function = async ([id, tab = "code", ...rest]) => {
	const {h, number} = chord, f = chord.functions[id];
	if (!f)
		return chord.missing("There is no such function.");
	const facts = f.why ? "its counts are not known: " + f.why : "entered " + chord.times(f.calls) + " · " + number(f.insns) +
		" instructions executed (" + chord.share(f.insns, chord.summary.totals.instructions) + ") · " + number(f.code) +
		" instructions of code, " + number(f.never) + " never ran · " + number(f.nblocks) + " blocks, " + number(f.unentered) +
		" never entered";
	const tabs = {code: "Code", graph: "Graph", calls: "Calls"};
	const node = h("div", {class: "page"}, h("header", {class: "about"}, h("h1", {}, chord.clean(f.name)),
		h("span", {}, f.file < chord.listed ? chord.fileLink(f.file, f.line) : chord.clean(chord.place(f.file, f.line))),
		chord.summary.objects.length > 1 ? h("span", {class: "dim"}, chord.clean(chord.base(chord.summary.objects[f.object]))) : null,
		h("span", {class: "facts"}, chord.clean(facts)),
		h("nav", {class: "tabs", "aria-label": "Of this function"}, Object.entries(tabs).map(([name, title]) =>
			chord.link("#/function/" + id + "/" + name, title, {"aria-current": name === tab ? "page" : null})))));
	let view;

	if (!f.listed)
		view = chord.missing("It has no instructions here: " + (f.why || "none were measured"));
	else
		try {
			view = await {code: chord.codeView, graph: chord.flowView, calls: chord.callsOf}[tab](f, await chord.load("function/" + id), rest);
		} catch (error) {
			view = chord.missing(String(error.message));
		}
	node.append(view.node);
	return {...view, title: f.name, node};
};
