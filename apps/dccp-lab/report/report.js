
"use strict";
(() => {
  // Readable on light and on dark. The last is for references.
  const palette = ["#2f7ec7", "#d9792b", "#2f9e6e", "#a25bb5", "#d14a4a", "#7d78d8", "#8d8f2f",
    "#2ea3b5", "#c2568f", "#6f7f8f"];
  const reference = "#87919b";
  const clear = "rgba(0,0,0,0)";
  const narrow = () => window.innerWidth < 620;
  // A finger that draws over a chart wants to scroll the page.
  const finger = window.matchMedia("(pointer: coarse)").matches;
  const hovers = window.matchMedia("(hover: hover)").matches;

  const colorOf = (s) => s.color < 0 ? reference : palette[(s.color || 0) % palette.length];
  const axisName = (letter, panel) => panel === 0 ? letter : letter + (panel + 1);

  const traceOf = (s) => {
    const color = colorOf(s);
    const trace = {
      name: s.name, x: s.x, y: s.y, showlegend: !s.quiet, yaxis: axisName("y", s.panel || 0),
      opacity: s.faint ? 0.7 : 1
    };
    if (s.kind === "bars") return Object.assign(trace, {type: "bar", marker: {color: color}});
    trace.type = "scatter";
    trace.mode = s.kind === "points" ? "markers" : s.x.length > 60 || s.step ? "lines"
      : s.dash === "dash" && s.color < 0 ? "lines" : "lines+markers";
    trace.line = {color: color, width: s.strong ? 3 : s.faint ? 1 : 1.8, dash: s.dash || "solid",
      shape: s.step ? "hv" : "linear"};
    trace.marker = {color: color, size: s.small ? 3 : s.faint ? 5 : 7,
      symbol: s.symbol || "circle", line: {width: s.symbol && s.symbol.includes("open") ? 2 : 0,
      color: color}};
    for (const axis of ["x", "y"]) {
      const errors = s["error_" + axis];
      if (errors && errors.some((e) => e > 0))
        trace["error_" + axis] = {type: "data", array: errors, color: color, thickness: 1.6,
          width: 4};
    }
    return trace;
  };

  // Those of the values on a logarithmic axis whose labels do not touch; the last one stays.
  const apart = (values, width) => {
    const least = 42 / Math.max(width - 90, 100) * Math.log(values[values.length - 1] / values[0]);
    const shown = [];
    for (const value of values.slice().reverse())
      if (!shown.length || Math.log(shown[0] / value) >= least) shown.unshift(value);
    return shown;
  };

  const axisOf = (a, title, width) => {
    const axis = {
      title: {text: title, standoff: 8}, type: a.type, automargin: true, fixedrange: finger,
      zeroline: false, gridcolor: "#cccccc", ticks: "", rangemode: a.zero ? "tozero" : "normal",
      exponentformat: "none"
    };
    if (a.type === "category") axis.tickfont = {size: narrow() ? 9.5 : 12};
    if (a.reversed) axis.autorange = "reversed";
    if (a.range) axis.range = a.type === "log" ? a.range.map(Math.log10) : a.range;
    if (a.type === "log") {
      const decades = a.range ? axis.range[1] - axis.range[0] : 1;
      axis.dtick = narrow() || decades > 3.5 ? 1 : "D2";
    }
    if (a.ticks) {
      const shown = apart(a.ticks, width);
      Object.assign(axis, {tickmode: "array", tickvals: shown, ticktext: shown.map(String),
        tickangle: 0});
    }
    return axis;
  };

  const layoutOf = (figure, choice, width) => {
    const panels = figure.panels || [];
    const used = [...new Set(choice.series.map((s) => s.panel || 0))].sort();
    const layout = {
      height: figure.height, margin: {l: 12, r: 14, t: 10, b: 44}, barmode: "stack",
      paper_bgcolor: clear, plot_bgcolor: clear, font: {size: narrow() ? 11 : 13,
        family: "system-ui, -apple-system, Segoe UI, Roboto, DejaVu Sans, sans-serif"},
      hoverlabel: {bgcolor: "#26313b", bordercolor: "#26313b", font: {color: "#ffffff"}},
      hovermode: "closest", dragmode: finger ? false : "zoom",
      modebar: {bgcolor: clear, color: reference, activecolor: palette[0]},
      legend: {orientation: "h", x: 0, xanchor: "left", y: 1, yanchor: "bottom",
        font: {size: narrow() ? 10.5 : 12}},
      xaxis: axisOf(figure.x, figure.x.title, width),
      yaxis: axisOf(figure.y, choice.y_title || figure.y.title),
      shapes: [], annotations: []
    };
    // Panels stand below the main one, each a fifth of the height.
    const below = used.filter((p) => p > 0);
    const height = 0.2;
    const gap = 0.05;
    layout.yaxis.domain = [below.length * (height + gap), 1];
    below.forEach((panel, i) => {
      const top = (below.length - i) * (height + gap) - gap;
      const axis = axisOf({type: "linear", zero: true}, panels[panel - 1]);
      layout["yaxis" + (panel + 1)] = Object.assign(axis, {domain: [top - height, top], nticks: 4});
    });
    layout.xaxis.anchor = below.length ? "y" + (below[below.length - 1] + 1) : "y";
    for (const band of [...(figure.bands || []), ...(choice !== figure && choice.bands || [])])
      layout.shapes.push({type: "rect", xref: "x", yref: "paper", x0: band.x0, x1: band.x1, y0: 0,
        y1: 1, fillcolor: band.quiet ? reference : palette[2], opacity: 0.14, line: {width: 0},
        layer: "below"});
    for (const line of figure.lines || [])
      layout.shapes.push({type: "line", xref: "x", yref: "paper", x0: line.x, x1: line.x, y0: 0,
        y1: 1, line: {color: reference, width: 1.5, dash: "dash"}, layer: "below"});
    return layout;
  };

  // For print: with a view box a drawing scales with its element.
  const makeScalable = (plot) => {
    for (const svg of plot.querySelectorAll(".main-svg")) {
      const width = svg.getAttribute("width");
      const height = svg.getAttribute("height");
      svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      plot.style.setProperty("--shape", `${width} / ${height}`);
    }
  };

  const draw = (figure, index) => {
    const plot = document.getElementById(figure.id).querySelector(".plot");
    const choice = figure.choices ? figure.choices[index] : figure;
    const layout = layoutOf(figure, choice, plot.clientWidth);
    return Plotly.react(plot, choice.series.map(traceOf), layout, {
      responsive: true, displaylogo: false, displayModeBar: hovers && !finger ? "hover" : false,
      // Nothing leaves the page.
      scrollZoom: false, plotlyServerURL: "",
      modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d", "sendChartToCloud"]
    }).then(() => {
      makeScalable(plot);
      if (!plot.dataset.drawn) plot.on("plotly_afterplot", () => makeScalable(plot));
      plot.dataset.drawn = "yes";
    });
  };

  const begin = async () => {
    const figures = JSON.parse(document.getElementById("figures").textContent);
    for (const figure of figures) {
      const select = document.getElementById(figure.id).querySelector("select");
      if (select) select.addEventListener("change", () => draw(figure, select.selectedIndex));
      await draw(figure, select ? select.selectedIndex : 0);
    }
    document.documentElement.dataset.charts = figures.length;
  };
  begin().catch((fault) => {
    console.error(fault);
    const note = document.createElement("p");
    note.className = "note";
    note.textContent = "The charts could not be drawn: " + fault;
    document.getElementById("charts").prepend(note);
  });
})();
