(function () {
  "use strict";
  var root = document.documentElement, $ = function (id) { return document.getElementById(id); };
  root.classList.add("js");

  // Theme: the switch works without this; here it is only remembered.
  function kept(name) { try { return localStorage.getItem(name); } catch (e) { return null; } }
  var themes = document.querySelectorAll("input[name=theme]");
  var before = kept("tori-theme");
  themes.forEach(function (radio) {
    if (radio.id === before) radio.checked = true;
    radio.addEventListener("change", function () {
      try { localStorage.setItem("tori-theme", radio.id); } catch (e) { /* a page may have no memory */ }
    });
  });

  function unfoldTo(element) {
    for (var e = element; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
  }

  function follow() {
    var place;
    try { place = $(decodeURIComponent(location.hash.slice(1))); } catch (e) { return; }
    if (place) { unfoldTo(place); place.scrollIntoView(); }
  }
  addEventListener("hashchange", follow);
  document.addEventListener("click", function (event) {
    var link = event.target.closest && event.target.closest('a[href^="#"]');
    if (link && link.getAttribute("href") === location.hash) follow();
  });

  $("fold").addEventListener("click", function () {
    var unfold = this.getAttribute("aria-pressed") !== "true";
    this.setAttribute("aria-pressed", String(unfold));
    this.textContent = unfold ? "Fold all" : "Unfold all";
    document.querySelectorAll("main details").forEach(function (e) { e.open = unfold; });
  });

  // Search: every text as one string with the nodes that it is made of, so that colours do not hide words.
  var LIMIT = 5000, blocks = null, hits = [], at = -1, timer = 0;
  var canPaint = typeof Highlight === "function" && CSS.highlights;

  function index() {
    var walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
    var last = null, node;
    blocks = [];
    while ((node = walker.nextNode())) {
      var owner = node.parentElement.closest("pre, p, li, summary, td, th, h1, h2, h3, h4, h5, h6, header, div");
      if (!last || last.owner !== owner) { last = { owner: owner, text: "", nodes: [] }; blocks.push(last); }
      last.nodes.push([last.text.length, node]);
      last.text += node.data;
    }
  }

  function point(block, offset, isEnd) {
    var low = 0, high = block.nodes.length - 1;
    while (low < high) {
      var middle = (low + high + 1) >> 1, start = block.nodes[middle][0];
      if (isEnd ? start < offset : start <= offset) low = middle; else high = middle - 1;
    }
    return [block.nodes[low][1], offset - block.nodes[low][0]];
  }

  function search() {
    var words = $("q").value;
    hits = []; at = -1;
    if (canPaint) { CSS.highlights.delete("hit"); CSS.highlights.delete("here"); }
    if (words.trim()) {
      if (!blocks) index();
      var pattern = new RegExp(words.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "gi");
      for (var i = 0; i < blocks.length && hits.length < LIMIT; i++) {
        var block = blocks[i], found;
        pattern.lastIndex = 0;
        while ((found = pattern.exec(block.text)) && hits.length < LIMIT) {
          var range = document.createRange();
          range.setStart.apply(range, point(block, found.index, false));
          range.setEnd.apply(range, point(block, found.index + found[0].length, true));
          hits.push(range);
        }
      }
      if (canPaint && hits.length) {
        var paint = new Highlight();
        hits.forEach(function (range) { paint.add(range); });
        CSS.highlights.set("hit", paint);
      }
    }
    tell(words);
    if (hits.length) go(1);
  }

  function tell(words) {
    $("hits").textContent = !words.trim() ? "" : hits.length
      ? (at + 1) + "/" + hits.length + (hits.length === LIMIT ? "+" : "") : "none";
  }

  function go(step) {
    if (!hits.length) return;
    at = (at + step + hits.length) % hits.length;
    var range = hits[at], element = range.startContainer.parentElement;
    var summary = element.closest("summary");
    unfoldTo(summary ? summary.parentElement.parentElement : element);
    if (canPaint) CSS.highlights.set("here", new Highlight(range));
    tell($("q").value);
    element.scrollIntoView({ block: "center" });
  }

  $("q").addEventListener("input", function () { clearTimeout(timer); timer = setTimeout(search, 120); });
  $("q").addEventListener("keydown", function (event) {
    if (event.key === "Enter") { event.preventDefault(); go(event.shiftKey ? -1 : 1); }
    if (event.key === "Escape") { this.value = ""; search(); this.blur(); }
  });
  $("prev").addEventListener("click", function () { go(-1); });
  $("next").addEventListener("click", function () { go(1); });
  addEventListener("keydown", function (event) {
    var typing = /^(INPUT|TEXTAREA)$/.test(event.target.tagName) && event.target.type === "search";
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault(); $("q").focus();
    }
  });
  if (location.hash) follow();
})();
