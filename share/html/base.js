// SPDX-License-Identifier: MIT
// Common code of all views: elements, data that is loaded when needed, and numbers, which are exact or shown as not known.
"use strict";

const chord = {views: [], routes: {}};

// ---- elements ----

// Makes an element: attributes, on... handlers, then children, which are nodes or texts. Texts are never parsed.
chord.h = function (tag, attributes, ...children) {
	return chord.fill(document.createElement(tag), attributes, children);
};

chord.svg = function (tag, attributes, ...children) {
	return chord.fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
};

chord.fill = function (element, attributes, children) {
	for (const [name, value] of Object.entries(attributes || {})) {
		if (value === null || value === undefined || value === false)
			continue;
		if (name.startsWith("on"))
			element.addEventListener(name.slice(2), value);
		else if (name === "heat")
			element.style.setProperty("--heat", value.toFixed(4));
		else
			element.setAttribute(name, value === true ? "" : value);
	}
	for (const child of children.flat())
		if (child !== null && child !== undefined && child !== false)
			element.append(child);
	return element;
};

// Replaces characters that would be invisible, or would change the direction of others, by their names.
chord.clean = function (text) {
	return text.replace(/[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
		c => "‹U+" + c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0") + "›");
};

// ---- data ----

chord.waiting = new Map();

// Called by the scripts in data/.
chord.data = function (name, value) {
	const entry = chord.waiting.get(name);
	if (entry) {
		entry.value = value;
		entry.resolve(value);
	}
};

// Loads a script of the folder.
chord.script = function (path) {
	return new Promise((resolve, reject) => {
		const element = chord.h("script", {src: path});
		element.onload = () => resolve();
		element.onerror = () => reject(new Error(path + " cannot be read"));
		document.head.append(element);
	});
};

// The data with that name, as a promise.
chord.load = function (name) {
	let entry = chord.waiting.get(name);
	if (!entry) {
		entry = {};
		entry.promise = new Promise((resolve, reject) => {
			entry.resolve = resolve;
			entry.reject = reject;
		});
		chord.waiting.set(name, entry);
		chord.script("data/" + name + ".js").catch(error => {
			chord.waiting.delete(name);
			entry.reject(error);
		});
	}
	return entry.promise;
};

// The data with that name if it has been loaded, or undefined.
chord.loaded = name => chord.waiting.get(name)?.value;

chord.libraries = new Map();

// Loads a library of lib/ when it is first needed.
chord.library = function (file) {
	if (!chord.libraries.has(file))
		chord.libraries.set(file, chord.script("lib/" + file));
	return chord.libraries.get(file);
};

// Turns rows, which are written as arrays, into objects.
chord.objects = (rows, keys) => rows.map((row, id) => {
	const o = {id};
	keys.forEach((key, i) => { o[key] = row[i]; });
	return o;
});

// ---- numbers: a number, a string of digits that is too large for one, null (not known) or [least, most] ----

chord.known = n => n !== null && n !== undefined;

// For comparisons and for lengths of bars: the lower bound.
chord.value = function (n) {
	if (!chord.known(n))
		return -1;
	return Number(Array.isArray(n) ? n[0] : n);
};

chord.group = digits => String(digits).replace(/\B(?=(\d{3})+(?!\d))/g, ",");

chord.number = function (n) {
	if (!chord.known(n))
		return "?";
	if (!Array.isArray(n))
		return chord.group(n);
	return n[1] === null ? chord.group(n[0]) + " or more" : chord.group(n[0]) + " to " + chord.group(n[1]);
};

chord.times = n => chord.number(n) + (n === 1 ? " time" : " times");

// The exact sum of exact numbers; null if one of them is not exact.
chord.sum = function (list) {
	let sum = 0n;
	for (const n of list) {
		if (!chord.known(n) || Array.isArray(n))
			return null;
		sum += BigInt(n);
	}
	return sum <= 9007199254740992n ? Number(sum) : String(sum);
};

chord.minus = (a, b) => {
	const d = BigInt(a) - BigInt(b);
	return d <= 9007199254740992n && d >= -9007199254740992n ? Number(d) : String(d);
};

chord.share = function (n, all) {
	const part = chord.value(n), whole = chord.value(all);
	return part < 0 || whole <= 0 ? "" : chord.percent(part, whole, 2) + " %";
};

// A share that is not all, or not nothing, is not rounded to that: >99.99, <0.01.
chord.percent = function (part, whole, decimals) {
	const text = (100 * part / whole).toFixed(decimals), step = 10 ** -decimals;
	if (part > 0 && Number(text) === 0)
		return "<" + step.toFixed(decimals);
	return part < whole && Number(text) === 100 ? ">" + (100 - step).toFixed(decimals) : text;
};

// How hot something is, from 0 to 1, on a logarithmic scale, so a hundredth looks different from a thousandth.
chord.heat = function (n, most) {
	const part = chord.value(n), whole = chord.value(most);
	if (part <= 0 || whole <= 0)
		return 0;
	return Math.max(0.04, 1 + Math.log10(Math.max(part / whole, 1e-4)) / 4);
};

// ---- names ----

// A short name for boxes: without long template arguments, and without types of parameters.
chord.brief = function (name) {
	if (name.length < 30 || !/[<(]/.test(name) || name.includes("operator"))
		return name;
	let out = "", depth = 0, from = 0;
	for (const c of name) {
		if (c === "<" && !depth++)
			from = out.length;
		out += c;
		if (c === ">" && depth && !--depth && out.length - from > 12)
			out = out.slice(0, from) + "<…>";
	}
	return depth ? name : out.replace(/^\w+ (?=\w[^ ]*::)/, "").replace(/\([^()]*\)( const)?$/, "()");
};

// A long name for a row, as chord report shows it on a terminal: without what is nested deepest in brackets, or in any.
chord.shorter = function (name, most = 60) {
	const parts = name.match(/\(anonymous namespace\)|->|\boperator(?:\(\)|[<>=*-]*)|[^]/gu) || [];
	const opens = part => "<([{".includes(part), closes = part => part && ">)]}".includes(part);
	let depth = 0, deepest = 0, short = name;
	for (const part of parts) {
		depth += opens(part) - closes(part);
		if (depth < 0)
			return name;
		deepest = Math.max(deepest, depth);
	}
	for (let least = depth ? 0 : deepest; least && short.length > most; least--) {
		short = "";
		parts.forEach((part, i) => {
			depth -= closes(part);
			short += depth < least ? part : "";
			depth += opens(part);
			short += opens(part) && depth === least && !closes(parts[i + 1]) ? "…" : "";
		});
	}
	return short;
};

chord.base = path => path.slice(path.lastIndexOf("/") + 1);
chord.place = (file, line) => chord.base(chord.files[file].name) + (line ? ":" + line : "");

chord.link = (href, text, attributes) => chord.h("a", {href, ...attributes}, chord.clean(text));
chord.functionLink = (id, name) => chord.link("#/function/" + id, name === undefined ? chord.shorter(chord.functions[id].name) : name,
	{title: chord.clean(chord.functions[id].name)});
chord.fileLink = (id, line) => chord.link("#/file/" + id + (line ? "/" + line : ""), chord.place(id, line),
	{title: chord.files[id].name});

// An instruction's text without the address of its target, which is shown by name.
chord.insnText = row => chord.clean(row[3].replace(/\s+/g, " ").replace(row[6] === null ? /$^/ : / \*?0x[0-9a-f]+$/, ""));

// ---- settings that are kept ----

chord.keep = {
	get(key) {
		try { return localStorage.getItem("chord." + key); } catch { return null; }
	},
	set(key, value) {
		try { localStorage.setItem("chord." + key, value); } catch { /* in some browsers, pages from disk may keep nothing */ }
	},
};

chord.setTheme = function (theme) {
	if (theme)
		document.documentElement.dataset.theme = theme;
};
chord.setTheme(chord.keep.get("theme"));
