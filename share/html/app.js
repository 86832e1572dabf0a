// SPDX-License-Identifier: MIT
// Chooses the view by the address, #/VIEW/ARGUMENT..., and handles keys that work in all views.
"use strict";

(function () {
	const {h} = chord;
	const main = document.getElementById("main");
	let view = null, shown = 0;

	chord.go = path => { location.hash = "#" + path; };
	chord.missing = why => ({node: h("p", {class: "note"}, chord.clean(why))});

	function address() {
		const [name, ...rest] = location.hash.replace(/^#\/?/, "").split("/").map(part => {
			try { return decodeURIComponent(part); } catch { return part; }
		});
		return {name, rest};
	}

	function viewOf({name, rest}) {
		const found = chord.views.find(v => v.name === name);
		if (found && found.shown?.() !== false)
			return found.open(rest);
		return chord.routes[name] ? chord.routes[name](rest) : chord.missing("There is no such page.");
	}

	async function open() {
		const at = address(), number = ++shown;
		let next;
		main.setAttribute("aria-busy", "true");
		try {
			next = await viewOf(at);
		} catch (error) {
			console.error(error);
			next = chord.missing("This page cannot be shown: " + error.message);
		}
		if (number !== shown)
			return;
		view?.close?.();
		view = next;
		main.replaceChildren(view.node);
		main.removeAttribute("aria-busy");
		main.dataset.view = at.name || "summary";
		for (const link of document.querySelectorAll("#views a"))
			link.toggleAttribute("aria-current", link.dataset.name === at.name) &&
				(link.setAttribute("aria-current", "page"), link.scrollIntoView({block: "nearest", inline: "nearest"}));
		const title = view.title || chord.views.find(v => v.name === at.name)?.title;
		document.title = [title, chord.base(chord.summary.program)].filter(Boolean).join(" · ");
		view.shown?.();
		if (view.focus)
			view.focus();
		else
			main.focus({preventScroll: true});
	}

	// ---- keys ----

	const lists = () => view?.lists?.() || (view?.list ? [view.list] : []);

	function toggleTheme() {
		const dark = (document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
		chord.setTheme(dark ? "light" : "dark");
		chord.keep.set("theme", dark ? "light" : "dark");
	}

	function toList(by) {
		const all = lists(), at = all.findIndex(list => list.node === document.activeElement);
		const to = all[at < 0 ? 0 : at + by];
		to?.focus();
		return Boolean(to);
	}

	function moved(key) {
		const list = lists()[0];
		if (!list)
			return false;
		list.focus();
		list.move(key === "j" || key === "ArrowDown" ? 1 : -1);
		return true;
	}

	const keys = {
		"/": () => view?.filter && (view.filter.focus(), view.filter.select(), true),
		t: () => (toggleTheme(), true),
		"?": () => (document.getElementById("help").showModal(), true),
		Escape: () => (history.back(), true),
		ArrowLeft: () => toList(-1), ArrowRight: () => toList(1),
		j: () => moved("j"), k: () => moved("k"), ArrowDown: () => moved("ArrowDown"), ArrowUp: () => moved("ArrowUp"),
	};

	function keyed(event) {
		if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("dialog"))
			return;
		if (event.target.matches("input, select, textarea") && event.key !== "Escape")
			return;
		if (view?.key?.(event)) {
			event.preventDefault();
			return;
		}
		const tab = /^[1-9]$/.test(event.key) && tabs()[Number(event.key) - 1];
		if (tab)
			chord.go("/" + tab.name);
		else if (!keys[event.key]?.())
			return;
		event.preventDefault();
	}

	// ---- start ----

	const tabs = () => chord.views.filter(v => v.shown?.() !== false);

	async function start() {
		let summary;
		try {
			summary = await chord.load("summary");
		} catch (error) {
			main.replaceChildren(h("p", {class: "note"}, "The data of these pages are not beside them: " + error.message));
			return;
		}
		chord.summary = summary;
		chord.functions = chord.objects(summary.functions, ["name", "symbol", "file", "line", "object", "listed", "why", "calls", "insns", "blocks",
			"code", "never", "nblocks", "unentered"]);
		chord.files = chord.objects(summary.files, ["name", "insns", "lines", "never", "unknown", "text", "hotLine", "hottest"]);
		chord.listed = summary.listed;
		document.getElementById("program").textContent = chord.clean(chord.base(summary.program));
		document.getElementById("views").replaceChildren(...tabs().map((v, i) =>
			chord.link("#/" + v.name, v.title, {"data-name": v.name, "aria-keyshortcuts": String(i + 1)})));
		document.getElementById("theme").addEventListener("click", toggleTheme);
		document.getElementById("keys").addEventListener("click", () => keys["?"]());
		addEventListener("keydown", keyed);
		addEventListener("hashchange", open);
		open();
	}

	start();
})();
