"use strict";
/* The viewer of a page made by `foliolab export --format html`; view/web/stream.h is the format. */

const PRESENT = 0x10, HEAD = 0x20, USED = 0x40, POISON = 0x80, UPTODATE = 0x100, MARK = 0x200,
      DIRTY = 0x400, WRITEBACK = 0x800;
const CELLS = 1, WINDOW = 2, CALL = 4, OP = 8;
const SPEEDS = [1, 2, 5, 10, 30, 100, 1000, 10000];
const $ = (id) => document.getElementById(id);

/* ---- reading ---- */

async function unpack() {
	const packed = Uint8Array.from(atob($("data").textContent), (c) => c.charCodeAt(0));
	const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
	const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
	const line = bytes.indexOf(10), text = new TextDecoder();
	const length = Number(text.decode(bytes.subarray(0, line)));
	const head = JSON.parse(text.decode(bytes.subarray(line + 1, line + 1 + length)));
	return { head, bytes: bytes.subarray(line + 1 + length) };
}

class Reader {
	constructor(bytes) { this.bytes = bytes; this.at = 0; }
	number() {
		let v = 0, factor = 1, b;
		do {
			b = this.bytes[this.at++];
			v += (b & 127) * factor;
			factor *= 128;
		} while (b > 127);
		return v;
	}
	signed() {
		const v = this.number();
		return v % 2 ? -(v + 1) / 2 : v / 2;
	}
}

/* All events; texts are put together when they are shown. */
function readEvents(head, bytes) {
	const r = new Reader(bytes);
	const places = head.templates.map((t) => (t.match(/[#~]/g) || []).length);
	const last = places.map((n) => new Array(n).fill(0));
	let ns = 0, page = 0;
	const text = () => {
		const t = r.number(), of = last[t];
		for (let i = 0; i < of.length; i++) of[i] += r.signed();
		return [t, ...of];
	};
	const run = () => {
		const file = r.number();
		page += r.signed();
		return [file, page, r.number(), head.values[r.number()]];
	};
	const events = [];
	for (let nr = 0; nr < head.events; nr++) {
		const e = { ns: ns += r.number(), line: text(), why: text(), rule: text() };
		e.flags = r.number();
		if (e.flags & CELLS) e.cells = Array.from({ length: r.number() }, run);
		if (e.flags & WINDOW) e.window = [r.number(), r.number(), r.number()];
		if (e.flags & CALL) e.call = [r.number(), r.number(), r.number(), r.number()];
		events.push(e);
	}
	return events;
}

function words(head, [t, ...numbers]) {
	let i = 0;
	return head.templates[t].replace(/[#~]/g, (c) =>
		c === "#" ? String(numbers[i++]) : "0x" + numbers[i++].toString(16));
}

/* ---- the scene ---- */

/* Stands after `pos` events; a copy now and then makes going back short. */
class Scene {
	constructor(head, events) {
		this.events = events;
		this.pages = Math.max(head.pages, 1, ...head.files.map((f) => f.end));
		this.stride = Math.max(1024, Math.ceil(events.length * this.pages / 16e6));
		this.copies = new Map();
		this.reset();
	}
	reset() {
		this.pos = 0;
		this.cells = [new Uint32Array(this.pages)];
		this.window = this.call = null;
		this.latency = new Uint32Array(64);
		this.calls = 0;
	}
	copy() {
		return { pos: this.pos, cells: this.cells.map((c) => c.slice()), window: this.window,
			 call: this.call, latency: this.latency.slice(), calls: this.calls };
	}
	forward() {
		const e = this.events[this.pos++];
		for (const [file, page, nr, value] of e.cells || []) {
			this.cells[file] ||= new Uint32Array(this.pages);
			this.cells[file].fill(value, page, page + nr);
		}
		if (e.window) this.window = e.window;
		if (e.call) {
			this.call = e.call;
			this.calls++;
			this.latency[e.call[0] ? Math.floor(Math.log2(e.call[0])) : 0]++;
		}
		if (this.pos % this.stride === 0 && !this.copies.has(this.pos))
			this.copies.set(this.pos, this.copy());
	}
	goto(pos) {
		pos = Math.max(0, Math.min(pos, this.events.length));
		const near = Math.floor(pos / this.stride) * this.stride;
		if (pos < this.pos || near > this.pos) {
			let from = near;
			while (from && !this.copies.has(from)) from -= this.stride;
			if (!from && pos < this.pos) this.reset();
			else if (from && (pos < this.pos || from > this.pos)) {
				const c = this.copies.get(from);
				Object.assign(this, c, { cells: c.cells.map((x) => x.slice()),
							 latency: c.latency.slice() });
			}
		}
		while (this.pos < pos) this.forward();
	}
	orders() {
		const n = new Array(16).fill(0);
		for (const cells of this.cells)
			for (const v of cells) if (v & HEAD) n[v & 15]++;
		return n;
	}
	/* The folios of the first file: [first page, order] of each. */
	folios() {
		const list = [];
		this.cells[0].forEach((v, page) => { if (v & HEAD) list.push([page, v & 15]); });
		return list;
	}
}

/* ---- drawing ---- */

function shortTime(ns) {
	return ns < 1e3 ? ns + " ns" : ns < 1e6 ? (ns / 1e3).toFixed(1) + " us" :
		ns < 1e9 ? (ns / 1e6).toFixed(1) + " ms" : (ns / 1e9).toFixed(2) + " s";
}

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function prepare(canvas, height) {
	const scale = window.devicePixelRatio || 1, width = canvas.clientWidth || 600;
	canvas.width = width * scale;
	canvas.height = height * scale;
	canvas.style.height = height + "px";
	const c = canvas.getContext("2d");
	c.scale(scale, scale);
	c.clearRect(0, 0, width, height);
	return [c, width];
}

class View {
	constructor(head, events) {
		this.head = head;
		this.scene = new Scene(head, events);
		this.events = events;
		this.speed = 3;
		this.playing = false;
		this.first = 0;
		this.listEvents = events.map((e, i) => i);
		this.calls = this.listEvents.filter((i) => events[i].call);
		this.windows = this.listEvents.filter((i) => events[i].window);
	}

	/* A screen of whole pages around what happened last. */
	follow() {
		const e = this.events[this.scene.pos - 1], per = this.columns * this.rows;
		const page = e && e.cells ? e.cells[0][1] : e && e.window ? e.window[0] :
			this.scene.call ? this.scene.call[1] : 0;
		this.first = page - page % per;
	}

	drawMap() {
		const canvas = $("map"), w = 14, h = 22, height = 330;
		const [c, width] = prepare(canvas, height);
		this.columns = Math.max(16, Math.floor(width / w / 16) * 16);
		this.w = width / this.columns;
		this.rows = Math.floor(height / h);
		this.h = h;
		this.follow();
		const end = Math.min(this.first + this.columns * this.rows, this.scene.pages);
		for (let page = this.first; page < end; page++) this.drawCell(c, page);
		$("maphead").textContent = `file map   pages ${this.first}-${end - 1} of ${this.scene.pages}`;
	}

	drawCell(c, page) {
		const i = page - this.first, x = i % this.columns * this.w, { head, scene } = this;
		const y = Math.floor(i / this.columns) * this.h, v = scene.cells[0][page];
		const win = scene.window, order = v & 15, last = (page + 1) % (1 << order) === 0;
		const colours = head.colours, o = Math.min(order, 9);
		c.globalAlpha = 1;
		if (!(v & PRESENT)) {
			c.fillStyle = css("--absent");
			c.fillRect(x, y, this.w - 1, this.h - 4);
			if (win && page >= win[0] && page < win[0] + win[1]) {
				c.globalAlpha = 0.35;
				c.fillStyle = colours.window;
				c.fillRect(x, y, this.w - 1, this.h - 4);
			}
			return;
		}
		c.globalAlpha = v & USED ? 1 : 0.45;
		c.fillStyle = v & POISON ? colours.poison : colours.orders[o];
		c.fillRect(x, y, this.w - (last ? 1 : 0), this.h - 4);
		c.globalAlpha = 1;
		if (v & HEAD) this.drawHead(c, x, y, v, order);
		const call = scene.call;
		if (call && page === call[1] + call[2] - 1) {
			c.strokeStyle = colours.reader;
			c.lineWidth = 2;
			c.strokeRect(x, y, this.w - 1, this.h - 4);
		}
	}

	drawHead(c, x, y, v, order) {
		const colours = this.head.colours, width = this.w * (1 << order);
		c.font = "bold 13px monospace";
		c.fillStyle = v & USED ? colours.ink[Math.min(order, 9)] : css("--text");
		c.fillText(order.toString(16), x + 4, y + 14);
		c.fillStyle = colours.mark;
		if (v & MARK) c.fillRect(x, y, 3, this.h - 4);
		c.fillStyle = colours.dirty;
		if (v & DIRTY) c.fillRect(x, y + this.h - 7, width - 1, 3);
		c.fillStyle = css("--text");
		if (!(v & UPTODATE) || v & WRITEBACK)
			for (let i = 0; i < width - 2; i += v & WRITEBACK ? 6 : 3)
				c.fillRect(x + i, y + (v & WRITEBACK ? i / 2 % 16 : 9), 1, 1);
	}

	drawWindow() {
		const [c, width] = prepare($("window"), 34), win = this.scene.window;
		if (!win) {
			$("windowtext").textContent = "none yet";
			return;
		}
		const [start, size, async] = win, mark = (size - async) / size * width;
		c.fillStyle = this.head.colours.window;
		c.globalAlpha = 0.55;
		c.fillRect(0, 6, mark, 20);
		c.globalAlpha = 0.25;
		c.fillRect(mark, 6, width - mark, 20);
		c.globalAlpha = 1;
		c.fillStyle = this.head.colours.mark;
		if (async) c.fillRect(mark, 2, 3, 28);
		$("windowtext").textContent = `start ${start}  size ${size}  async ${async}`;
	}

	bars(id, rows) {
		const most = Math.max(1, ...rows.map((r) => r[1]));
		$(id).replaceChildren(...rows.map(([name, n, colour]) => {
			const tr = document.createElement("tr"), bar = document.createElement("div");
			bar.className = "bar";
			bar.style.width = 100 * n / most + "%";
			bar.style.background = colour;
			for (const what of [name, bar, String(n)])
				tr.insertCell().append(what);
			return tr;
		}));
	}

	drawSums() {
		const orders = this.scene.orders(), latency = this.scene.latency;
		const top = Math.max(4, orders.findLastIndex((n) => n));
		this.bars("orders", orders.slice(0, top + 1).map((n, o) =>
			[String(o), n, this.head.colours.orders[Math.min(o, 9)]]));
		this.bars("latency", [...latency].map((n, b) => [shortTime(2 ** b), n,
			this.head.colours.window]).filter((r) => r[1]));
	}

	/* Windows are rectangles from their choice to their last byte, calls are dots. */
	drawTime() {
		const [c, width] = prepare($("time"), 180), h = 180, events = this.events;
		const ends = events.length ? events[events.length - 1].ns : 1;
		const from = events.length ? events[0].ns : 0, pages = this.top ||= Math.max(1,
			...this.windows.map((i) => events[i].window[0] + events[i].window[1]),
			...this.calls.map((i) => events[i].call[1] + events[i].call[2]));
		const x = (ns) => (ns - from) / Math.max(ends - from, 1) * (width - 2);
		const y = (page) => h - 1 - page / pages * (h - 2);
		c.fillStyle = this.head.colours.window;
		c.globalAlpha = 0.45;
		this.windows.forEach((i, n) => {
			const [start, size] = events[i].window, left = x(events[i].ns);
			c.fillRect(left, y(start + size), Math.max(2, x(this.head.ends[n]) - left),
				   Math.max(1, y(start) - y(start + size)));
		});
		c.globalAlpha = 1;
		c.fillStyle = this.head.colours.reader;
		for (const i of this.calls)
			c.fillRect(x(events[i].ns), y(events[i].call[1]) - 1, 2, 2);
		c.fillStyle = css("--strong");
		c.fillRect(x(this.now()), 0, 1, h);
	}

	now() {
		return this.scene.pos ? this.events[this.scene.pos - 1].ns : 0;
	}

	drawEvents() {
		const from = Math.max(0, Math.min(this.scene.pos - 5, this.events.length - 9));
		const list = [];
		for (let i = from; i < Math.min(from + 9, this.events.length); i++) {
			const li = document.createElement("li");
			li.textContent = String(this.head.first + i).padStart(6, "0") + " " +
				words(this.head, this.events[i].line);
			if (i === this.scene.pos - 1) li.className = "now";
			li.onclick = () => this.goto(i + 1);
			list.push(li);
		}
		$("events").replaceChildren(...list);
	}

	draw() {
		const e = this.events[this.scene.pos - 1];
		this.drawMap();
		this.drawWindow();
		this.drawSums();
		this.drawTime();
		this.drawEvents();
		$("sentence").textContent = e ? words(this.head, e.why) : "Nothing has happened yet.";
		$("rule").textContent = e ? words(this.head, e.rule) : "";
		$("scrub").value = this.scene.pos;
		$("speed").textContent = SPEEDS[this.speed] + "/s";
		$("play").textContent = this.playing ? "pause" : "play";
		$("where").textContent = `event ${this.head.first + this.scene.pos} of ` +
			`${this.head.first + this.events.length}, ${shortTime(this.now())}`;
	}

	goto(pos) {
		this.scene.goto(pos);
		this.draw();
	}

	/* Behind the next or previous event of a list. */
	seek(list, dir) {
		const pos = this.scene.pos;
		const at = dir > 0 ? list.find((i) => i >= pos) : list.findLast((i) => i + 1 < pos);
		this.goto(at === undefined ? (dir > 0 ? this.events.length : 0) : at + 1);
	}

	play() {
		this.playing = !this.playing;
		if (this.playing && this.scene.pos === this.events.length) this.scene.goto(0);
		let last = performance.now(), due = 0;
		const frame = (now) => {
			if (!this.playing) return;
			due += (now - last) / 1000 * SPEEDS[this.speed];
			last = now;
			if (due >= 1) {
				this.scene.goto(this.scene.pos + Math.floor(due));
				due %= 1;
			}
			this.playing = this.scene.pos < this.events.length;
			this.draw();
			requestAnimationFrame(frame);
		};
		requestAnimationFrame(frame);
		this.draw();
	}

	faster(by) {
		this.speed = Math.max(0, Math.min(SPEEDS.length - 1, this.speed + by));
		this.draw();
	}

	theme() {
		document.documentElement.classList.toggle("light");
		this.draw();
	}

	tip(event) {
		const box = $("map").getBoundingClientRect();
		const column = Math.floor((event.clientX - box.left) / this.w);
		const page = this.first + Math.floor((event.clientY - box.top) / this.h) * this.columns + column;
		const v = this.scene.cells[0][page] || 0, tip = $("tip");
		tip.textContent = `page ${page}: ` + (v & PRESENT ? `order ${v & 15}` +
			(v & USED ? ", used" : ", not used yet") + (v & POISON ? ", bad" : "") : "not cached");
		tip.style.display = "block";
		tip.style.left = event.clientX + 14 + "px";
		tip.style.top = event.clientY + 16 + "px";
	}
}

/* ---- keys ---- */

const KEYS = [
	["play", [" "], "Space", "play or pause", (v) => v.play()],
	["step", [".", "ArrowRight"], ".", "one event forward", (v) => v.goto(v.scene.pos + 1)],
	["back", [",", "ArrowLeft"], ",", "one event back", (v) => v.goto(v.scene.pos - 1)],
	["call", ["o"], "o", "forward to where the next call has returned", (v) => v.seek(v.calls, 1)],
	[null, ["O"], "O", "back to where the call before had returned", (v) => v.seek(v.calls, -1)],
	["next", ["w"], "w", "forward to the next readahead window", (v) => v.seek(v.windows, 1)],
	[null, ["W"], "W", "back to the window before", (v) => v.seek(v.windows, -1)],
	["first", ["Home", "0"], "Home", "to the beginning", (v) => v.goto(0)],
	["last", ["End", "$"], "End", "to the end", (v) => v.goto(v.events.length)],
	["faster", ["+", "="], "+", "play faster", (v) => v.faster(1)],
	["slower", ["-", "_"], "-", "play slower", (v) => v.faster(-1)],
	["theme", ["T"], "T", "dark or light", (v) => v.theme()],
];

function listen(view) {
	for (const [id, , , , act] of KEYS)
		if (id) $(id).onclick = () => act(view);
	document.onkeydown = (e) => {
		if (e.ctrlKey || e.metaKey || e.altKey) return;
		if (e.target.tagName === "BUTTON" && (e.key === " " || e.key === "Enter")) return;
		const key = KEYS.find(([, keys]) => keys.includes(e.key));
		if (!key) return;
		e.preventDefault();
		key[4](view);
	};
	$("scrub").max = view.events.length;
	$("scrub").oninput = (e) => view.goto(Number(e.target.value));
	$("map").onmousemove = (e) => view.tip(e);
	$("map").onmouseleave = () => { $("tip").style.display = "none"; };
	window.onresize = () => view.draw();
	$("help").replaceChildren(...KEYS.map(([, , shown, text]) => {
		const li = document.createElement("li"), b = document.createElement("b");
		b.textContent = shown;
		li.append(b, text);
		return li;
	}));
}

/* ---- a lab's questions; its answers wait to be asked for ---- */

/* Blank lines part paragraphs, ``` encloses code, ` code in a line; |, >, -, 1. begin the usual. */
function prose(text) {
	const box = document.createElement("div");
	text.split(/^```.*$/m).forEach((part, i) => {
		if (i % 2) {
			box.append(Object.assign(document.createElement("pre"),
				{ textContent: part.replace(/^\n|\s+$/g, "") }));
			return;
		}
		for (const para of part.split(/\n\s*\n/).filter((p) => p.trim()))
			box.append(block(para.trim()));
	});
	return box;
}

function block(text) {
	if (text.startsWith("|")) return table(text.split("\n"));
	if (text.startsWith(">")) return marked("blockquote", text.replace(/^> ?/gm, ""));
	const p = marked("p", text);
	if (/^(-|\d+\.) /.test(text)) p.style.whiteSpace = "pre-line";
	return p;
}

/* The second line is the rule below the names. */
function table(lines) {
	const box = document.createElement("table");
	lines.filter((line, i) => i !== 1).forEach((line, i) => {
		const tr = document.createElement("tr");
		tr.append(...line.split("|").slice(1, -1).map((cell) => marked(i ? "td" : "th", cell.trim())));
		box.append(tr);
	});
	return box;
}

function marked(tag, text) {
	const p = document.createElement(tag);
	text.split("`").forEach((part, i) => p.append(i % 2 ?
		Object.assign(document.createElement("code"), { textContent: part }) :
		part.replace(/\*\*?/g, "")));
	return p;
}

function question(q) {
	const box = document.createElement("div"), button = document.createElement("button");
	box.append(prose(q.text));
	if (q.options) {
		const ol = document.createElement("ol");
		ol.type = "a";
		ol.append(...q.options.map((o) => Object.assign(document.createElement("li"), { textContent: o })));
		box.append(ol);
	}
	button.textContent = "show the answer";
	button.className = "reveal";
	button.onclick = () => {
		const answer = document.createElement("div");
		answer.className = "answer";
		answer.append(prose(q.answer), q.explain ? prose(q.explain) : "");
		button.replaceWith(answer);
	};
	box.append(button);
	return box;
}

function showLab(lab) {
	const box = $("lab");
	box.hidden = false;
	for (const step of lab.steps) {
		const h = document.createElement("h3");
		h.textContent = step.title;
		box.append(h, prose(step.brief || ""), ...step.questions.map(question));
	}
}

async function main() {
	const { head, bytes } = await unpack();
	const view = new View(head, readEvents(head, bytes));
	if (matchMedia("(prefers-color-scheme: light)").matches)
		document.documentElement.classList.add("light");
	$("facts").textContent = `kernel ${head.kernel}  ${head.fs}  ra ${head.ra_pages} pages  ` +
		`seed ${head.seed}  ${head.events} events`;
	listen(view);
	if (head.lab) showLab(head.lab);
	view.goto(head.at);
	window.foliolab = view;
}

main().catch((e) => { $("sentence").textContent = "This page could not be read: " + e; });
