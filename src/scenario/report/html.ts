/** The result of a run as one page without scripts and external requests. */
import type { AssertionResult, RunReport, SignalSeries, StepResult } from '../../contract/scenarios.ts';
import type { ReportOrigin } from './document.ts';
import { htmlDocument, htmlText as html } from '../../core/markup.ts';

const style = `
.passed, .done { color: var(--good); } .failed, .error { color: var(--bad); font-weight: 600; }
.pending, .dropped, .waiting, .skipped, .stopped { color: var(--muted); }
svg { width: 100%; height: auto; } svg text { font-size: 11px; fill: currentColor; }
svg path { fill: none; stroke: var(--trace); stroke-width: 1.5; }
svg line { stroke: var(--line); } svg .mark { stroke: var(--bad); stroke-dasharray: 3 3; }
`;

/** Seconds in readable form. */
function secondsText(s: number): string {
  if (s < 120) return `${Number(s.toFixed(3))} s`;
  const whole = Math.round(s);
  const [h, m, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  return `${h > 0 ? `${h} h ` : ''}${m} min ${rest} s`;
}

const numberText = (value: number) => String(Number(value.toPrecision(5)));

const size = { width: 900, height: 180, left: 70, right: 12, top: 12, bottom: 26 };

/** A chart of one signal with dashed lines at the times at which assertions about the signal failed. */
function chart({ signal, unit, samples }: SignalSeries, failedAtS: readonly number[]): string {
  const values = samples.map(([, value]) => value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const margin = high > low ? 0.05 * (high - low) : Math.max(1, 0.05 * Math.abs(high));
  const [bottom, top] = [low - margin, high + margin];
  const [first, last] = [samples[0]?.[0] ?? 0, samples.at(-1)?.[0] ?? 1];
  const spanS = Math.max(last - first, 1e-6);
  const x = (s: number) => size.left + ((s - first) / spanS) * (size.width - size.left - size.right);
  const y = (v: number) =>
    size.height - size.bottom - ((v - bottom) / (top - bottom)) * (size.height - size.top - size.bottom);
  // a value holds until the next tick
  const path = samples.map(([s, v], n) =>
    n === 0 ? `M${x(s).toFixed(1)} ${y(v).toFixed(1)}` : `H${x(s).toFixed(1)}V${y(v).toFixed(1)}`,
  );
  const ticks = [low, (low + high) / 2, high].map(
    (v) =>
      `<line x1="${size.left}" x2="${size.width - size.right}" y1="${y(v).toFixed(1)}" ` +
      `y2="${y(v).toFixed(1)}"/><text x="${size.left - 6}" y="${(y(v) + 4).toFixed(1)}" ` +
      `text-anchor="end">${numberText(v)}</text>`,
  );
  const times = [first, first + spanS / 2, last].map(
    (s, n) =>
      `<text x="${x(s).toFixed(1)}" y="${size.height - 8}" ` +
      `text-anchor="${['start', 'middle', 'end'][n] ?? 'middle'}">${secondsText(s)}</text>`,
  );
  const marks = failedAtS.map(
    (s) =>
      `<line class="mark" x1="${x(s).toFixed(1)}" x2="${x(s).toFixed(1)}" y1="${size.top}" y2="${size.height - size.bottom}"/>`,
  );
  const title = `${signal}${unit === null ? '' : `, ${unit}`}`;
  return (
    `<figure><figcaption>${html(title)}</figcaption><svg viewBox="0 0 ${size.width} ${size.height}" ` +
    `role="img" aria-label="${html(title)} over simulated ` +
    `time"><title>${html(title)}</title>${ticks.join('')}${times.join('')}<path ` +
    `d="${path.join('')}"/>${marks.join('')}</svg></figure>`
  );
}

const atText = (s: number | null) => (s === null ? '' : secondsText(s));

function row(state: string, s: number | null, name: string, more: string, place: string): string {
  const cells = [
    `<td class="${state}">${state}</td>`,
    `<td class="number">${atText(s)}</td>`,
    `<td>${html(name)}<br><small>${html(more)}</small></td>`,
    `<td><small>${html(place)}</small></td>`,
  ];
  return `<tr>${cells.join('')}</tr>`;
}

function assertionRow({ state, name, message, place, decidedS, beganS }: AssertionResult): string {
  return row(state, decidedS ?? beganS, name, message, place);
}

function stepRow({ state, name, atS, actions, message, place }: StepResult): string {
  const done = actions.map(({ name: action, status }) => `${action}${status === null ? '' : ` ${status}`}`).join(', ');
  const more = message ?? (name.includes(done) ? '' : done);
  return row(state, atS, name, more, place);
}

function table(caption: string, rows: readonly string[]): string {
  if (rows.length === 0) return '';
  const heads = ['Result', 'At', caption.slice(0, -1), 'Place'].map((head) => `<th>${head}</th>`).join('');
  return `<h2>${caption}</h2><table><thead><tr>${heads}</tr></thead><tbody>${rows.join('\n')}</tbody></table>`;
}

function facts(report: RunReport, { version, buildId, seed }: ReportOrigin): string {
  const { checksOfPeers: checks } = report;
  const parameters = Object.entries(report.parameters).map(([name, value]) => `${name} = ${String(value)}`);
  const rows: readonly (readonly [string, string])[] = [
    [
      'Simulated',
      `${secondsText(report.simS)} from ${new Date(report.simStartMs).toISOString()}, ${report.ticks} ticks, seed ${seed}`,
    ],
    [
      'Real',
      `${new Date(report.startedAtMs).toISOString()}, ` +
        secondsText(((report.endedAtMs ?? report.startedAtMs) - report.startedAtMs) / 1000),
    ],
    ['Devices', report.devices.map(({ index, name, type }) => `${index}: ${name} (${type})`).join(', ')],
    ...(parameters.length > 0 ? [['Parameters', parameters.join(', ')] as const] : []),
    ...(checks === null || checks.rules === 0
      ? []
      : [['Checks of peers', `${checks.exercised} of ${checks.rules} came up`] as const]),
    ['Simulator', `derbench ${version}, build ${buildId}`],
  ];
  const lines = rows.map(([name, value]) => `<tr><th scope="row">${name}</th><td>${html(value)}</td></tr>`);
  return `<table><tbody>${lines.join('')}</tbody></table>`;
}

export function htmlPage(report: RunReport, origin: ReportOrigin): string {
  const failed = report.assertions().filter(({ state }) => state === 'failed');
  const charts = report.series().map((series) =>
    chart(
      series,
      failed.flatMap(({ signal, decidedS }) => (signal === series.signal && decidedS !== null ? [decidedS] : [])),
    ),
  );
  const failures = report.failures.map((words) => `<li>${html(words)}</li>`);
  return htmlDocument(
    `${report.name}: ${report.state}`,
    style,
    `<h1>${html(report.name)} <span class="${report.state}">${report.state}</span></h1>
<p>${html(report.description)}</p>
${report.error === null ? '' : `<p class="error">${html(report.error)}</p>`}
${failures.length === 0 ? '' : `<h2>Failures</h2><ul>${failures.join('')}</ul>`}
${facts(report, origin)}
${table('Assertions', report.assertions().map(assertionRow))}
${charts.length === 0 ? '' : `<h2>Signals</h2>${charts.join('\n')}`}
${table('Steps', report.steps().map(stepRow))}`,
  );
}
