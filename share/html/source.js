// SPDX-License-Identifier: MIT
// Source with counts next to it: a pane for any view, and the view of a whole file.
"use strict";

chord.CHUNK = 2000; // lines of a script, as in src/html/source.c

// options: select(line, user), label. The pane shows one file at a time: show(file, line), mark(lines).
chord.sourcePane = function (options) {
	const {h, number} = chord;
	const title = h("span", {class: "where"});
	const node = h("section", {class: "pane source"}, h("div", {class: "pane-title"}, h("span", {class: "head number"}, "count"),
		h("span", {class: "head number"}, "instructions"), chord.summary.differs ? h("span", {class: "head number"}, "change") : null, title));
	const pane = {node, file: -1, list: null, show, focus: () => pane.list?.focus(), rowAt, changeAt: line => changes?.get(line), key};
	let chunks, extra, most, marked = new Set(), changes;

	function show(file, line) {
		if (file !== pane.file)
			open(file);
		if (line)
			pane.ready = pane.ready.then(() => pane.file === file && pane.list.select(indexOf(line), false));
		return pane.ready;
	}

	function open(file) {
		const f = chord.files[file];
		pane.file = file;
		chunks = new Map();
		extra = [];
		changes = null;
		most = f.hottest;
		chord.digits(node, most);
		title.replaceChildren(chord.link("#/file/" + file, chord.base(f.name), {title: f.name}), f.text ? "" : h("em", {},
			" the file could not be read: these are its lines that have code"));
		pane.list?.node.remove();
		pane.list = chord.list({
			label: "Source of " + f.name, count: f.text, height: 20, class: "code", row: draw,
			select: (i, user) => options.select?.(lineOf(i), rowAt(lineOf(i)), user), open: i => options.open?.(lineOf(i)),
		});
		node.append(pane.list.node);
		// Lines after the end of the file are in its last script.
		const last = Math.max(0, Math.ceil(f.text / chord.CHUNK) - 1);
		pane.ready = chunk(last).then(data => {
			extra = data.rows.filter(row => row[0] > f.text).map(row => row[0]);
			pane.list.refresh(f.text + extra.length);
			return chord.changedLines(file);
		}).then(found => {
			if (pane.file === file && found) {
				changes = found;
				pane.list.refresh();
			}
		});
		chord.widest(pane.list.node, 110);
	}

	const lineOf = i => i < chord.files[pane.file].text ? i + 1 : extra[i - chord.files[pane.file].text];

	function indexOf(line) {
		const text = chord.files[pane.file].text;
		return line <= text ? line - 1 : text + Math.max(0, extra.indexOf(line));
	}

	function chunk(k) {
		const file = pane.file;
		return chord.load("source/" + file + "-" + k).then(data => {
			if (file === pane.file && !chunks.has(k)) {
				chunks.set(k, {text: data.text, rows: new Map(data.rows.map(row => [row[0], row]))});
				const longest = data.text.reduce((n, text) => Math.max(n, text.length), 0);
				chord.widest(pane.list.node, Math.min(longest + 8 * 4, 400));
				pane.list.refresh();
			}
			return data;
		});
	}

	const numberOf = line => Math.min(Math.floor((line - 1) / chord.CHUNK),
		Math.max(0, Math.ceil(chord.files[pane.file].text / chord.CHUNK) - 1));

	// [line, instructions, most, code, never, unknown, functions, branches], or undefined: there is no code, or it is not
	// loaded yet.
	function rowAt(line) {
		return chunks.get(numberOf(line))?.rows.get(line);
	}

	function draw(i) {
		const line = lineOf(i), k = numberOf(line), data = chunks.get(k);
		if (!data) {
			chunk(k);
			return h("div", {class: "line"}, h("span", {class: "n number"}), h("span", {class: "n number"}), changed(line),
				h("span", {class: "no"}, String(line)), h("span", {class: "text dim"}, "…"));
		}
		const row = data.rows.get(line);
		const heat = row ? chord.heat(row[1], most) : 0;
		return h("div", {class: "line " + chord.state(row) + (marked.has(line) ? " marked" : ""), heat: heat || null,
			title: row && row[5] ? "some of its code is not known" : null},
			h("span", {class: "n number" + (heat ? " hot" : "")}, row ? chord.mark(row[2]) : ""),
			h("span", {class: "n number" + (heat ? " hot" : "")}, row ? chord.mark(row[1]) + (row[5] ? " ?" : "") : ""),
			changed(line), h("span", {class: "no"}, String(line)),
			h("span", {class: "text"}, chord.clean(clip(data.text[line - 1 - k * chord.CHUNK] ?? ""))), row ? ways(row[7]) : null);
	}

	// The change of the instructions executed for a line.
	function changed(line) {
		if (!chord.summary.differs)
			return null;
		const at = changes?.get(line);
		return at ? chord.changeCell(...at) : h("span", {class: "n number change"});
	}

	// Keys n and p go to the next and the previous line that changed.
	function key(event) {
		if (!changes?.size || (event.key !== "n" && event.key !== "p"))
			return false;
		const by = event.key === "n" ? 1 : -1, at = pane.list.current;
		const found = [...changes.keys()].map(indexOf).filter(i => at < 0 || (i - at) * by > 0);
		if (found.length) {
			pane.list.focus();
			pane.list.select(by > 0 ? Math.min(...found) : Math.max(...found), true);
		}
		return true;
	}

	const clip = text => text.length > 2000 ? text.slice(0, 2000) + " … and " + number(text.length - 2000) + " characters more" : text;

	// For each conditional jump of a line, how often it was taken.
	function ways(branches) {
		if (!branches.length || branches.length > 4)
			return null;
		return h("span", {class: "ways"}, branches.map(([taken, fell]) => h("span", {
			class: chord.value(taken) === 0 || chord.value(fell) === 0 ? "one" : "",
			title: "conditional jump: taken " + number(taken) + ", not taken " + number(fell),
		}, chord.taken(taken, fell))));
	}

	pane.mark = function (lines) {
		marked = new Set(lines);
		pane.list?.refresh();
	};
	return pane;
};

chord.taken = function (taken, fell) {
	if (!chord.known(taken))
		return "?";
	const all = chord.value(taken) + chord.value(fell);
	return all ? chord.percent(chord.value(taken), all, 1) + "%" : "—";
};

// A count of zero is shown as a mark of code that never ran.
chord.mark = n => chord.known(n) && chord.value(n) === 0 && !Array.isArray(n) ? "#####" : chord.number(n);
chord.state = row => !row ? "none" : !chord.known(row[1]) ? "lost" : chord.value(row[1]) === 0 && !Array.isArray(row[1]) ? "never" : "ran";

// Sets the width of the text that scrolls sideways.
chord.widest = function (node, characters) {
	const before = Number(node.dataset.widest || 0);
	if (characters > before) {
		node.dataset.widest = characters;
		node.style.setProperty("--widest", characters + "ch");
	}
};

// Sets the width of columns of numbers; `most` is the largest number.
chord.digits = (node, most) => node.style.setProperty("--digits", Math.max(5.2, 0.7 + 0.475 * chord.number(most).length).toFixed(2) + "rem");

// ---- a file ----

chord.routes.file = async ([file, line]) => {
	const {h, number} = chord, f = chord.files[file];
	if (!f || file >= chord.listed)
		return chord.missing("There is no such file.");
	const beside = h("aside", {class: "beside", "aria-live": "polite"}, h("p", {class: "dim"}, "Select a line."));
	const pane = chord.sourcePane({select: about});

	function about(at, row, user) {
		if (user)
			history.replaceState(null, "", "#/file/" + file + "/" + at);
		const change = pane.changeAt(at);
		beside.replaceChildren(h("h2", {}, "line " + at));
		if (change)
			beside.append(h("dl", {}, h("dt", {}, "instructions executed before"), h("dd", {}, number(change[0])),
				h("dt", {}, "change"), h("dd", {}, chord.signed(chord.change(...change)))));
		if (!row) {
			beside.append(h("p", {class: "dim"}, "It has no code."));
			return;
		}
		beside.append(h("dl", {}, h("dt", {}, "instructions executed"), h("dd", {}, number(row[1])),
			h("dt", {}, "its instruction that ran most often"), h("dd", {}, number(row[2])),
			h("dt", {}, "instructions of code"), h("dd", {}, number(row[3])), h("dt", {}, "that never ran"), h("dd", {}, number(row[4]))),
			row[5] ? h("p", {class: "note"}, "Some of its code is not measured, or its counts are not known.") : "");
		if (row[7].length)
			beside.append(h("h3", {}, "Conditional jumps"), h("ul", {}, row[7].map(([taken, fell]) =>
				h("li", {}, "taken " + number(taken) + ", not taken " + number(fell)))));
		if (row[6].length)
			beside.append(h("h3", {}, "Code of it is in"), h("ul", {class: "links"}, row[6].slice(0, 100).map(id =>
				h("li", {}, chord.link("#/function/" + id + "/code/" + file + "/" + at, chord.shorter(chord.functions[id].name),
					{title: chord.clean(chord.functions[id].name)})))));
	}

	pane.show(Number(file), Number(line) || f.hotLine);
	return {key: pane.key, title: chord.base(f.name), node: h("div", {class: "page"},
		h("header", {class: "about"}, h("h1", {}, chord.clean(chord.base(f.name))), h("span", {class: "dim"}, chord.clean(f.name)),
			h("span", {class: "facts"}, number(f.insns) + " instructions executed · " + number(f.lines) + " lines have code, " +
				number(f.never) + " of them never ran" + (f.unknown ? ", " + number(f.unknown) + " are not known" : ""))),
		h("div", {class: "split file"}, pane.node, beside)), focus: () => pane.focus(), lists: () => [pane.list]};
};
