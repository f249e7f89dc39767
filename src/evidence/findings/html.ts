/** The reports on peers as one page without scripts and external requests. */
import { htmlDocument, htmlText as html } from '../../core/markup.ts';
import type { FindingJson, ReportJson, ReportsJson, RuleJson } from './document.ts';
import {
  countsText,
  coverageText,
  devicesText,
  headingText,
  identitiesText,
  legend,
  situationText,
  undecidedText,
} from './words.ts';

export const findingsStyle = `
.violation, .violations { color: var(--bad); font-weight: 600; } .risk, .risks { font-weight: 600; }
.clean { color: var(--good); } .remark, .inconclusive { color: var(--muted); }
progress { width: 100%; } pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: .2rem 0; }
`;

export const row = (cells: readonly string[]) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;

/** A table with its title; nothing without rows. Cells are markup. */
export function table(title: string, heads: readonly string[], rows: readonly string[]): string {
  if (rows.length === 0) return '';
  const head = heads.map((text) => `<th>${text}</th>`).join('');
  return `<h3>${title}</h3><table><thead><tr>${head}</tr></thead><tbody>${rows.join('\n')}</tbody></table>`;
}

function evidenceHtml({
  at,
  sim_time: simTime,
  text,
  channel,
  message_id: id,
  excerpt,
  facts,
  excuse,
  faults,
}: Evidence) {
  const details = [
    `${at}, simulated ${simTime}`,
    ...(id === null ? [] : [`message ${channel === '' || channel === null ? '' : `${channel} `}${id}`]),
    ...Object.entries(facts).map(([name, value]) => `${name}: ${String(value)}`),
    ...(faults.length === 0 ? [] : [`faults: ${faults.join(', ')}`]),
    ...(excuse === null ? [] : [`excused: ${excuse}`]),
  ];
  const raw = excerpt === null ? '' : `<pre>${html(excerpt)}</pre>`;
  return `<li>${html(text)}<br><small>${html(details.join('; '))}</small>${raw}</li>`;
}

type Evidence = FindingJson['evidence'][number];

const severityHtml = ({ severity }: FindingJson | RuleJson) => `<span class="${severity}">${severity}</span>`;
const ruleHtml = ({ rule, title }: FindingJson | RuleJson) => `<code>${html(rule)}</code><br>${html(title)}`;

function findingRow(finding: FindingJson): string {
  const { text, clause, consequence, reason, first_at: firstAt, last_at: lastAt, evidence, state } = finding;
  const devices = devicesText(finding);
  const notes = [clause, ...(reason === null ? [consequence] : [`${state}: ${reason}`])];
  return row([
    severityHtml(finding),
    ruleHtml(finding),
    `${html(text ?? '')}<br><small>${notes.map(html).join('<br>')}</small><details><summary>Evidence</summary>` +
      `<ul>${evidence.map(evidenceHtml).join('')}</ul></details>`,
    html(countsText(finding)),
    `${firstAt ?? ''}<br>${lastAt ?? ''}`,
    html(devices),
  ]);
}

const findingHeads = ['Severity', 'Rule', 'Case', 'Count', 'First and last', 'Devices'];

const findingTable = (title: string, findings: readonly FindingJson[]) =>
  table(title, findingHeads, findings.map(findingRow));

const ruleTable = (title: string, head: string, rows: readonly RuleJson[], words: (row: RuleJson) => string) =>
  table(
    title,
    ['Severity', 'Rule', head],
    rows.map((one) =>
      row([severityHtml(one), `${ruleHtml(one)}${one.core ? ' <small>core</small>' : ''}`, html(words(one))]),
    ),
  );

function identityRows({ peer: { identities } }: ReportJson): readonly string[] {
  return identities.map(({ protocol, address, certificate, facets, requests, last_seen_at: lastSeenAt }) => {
    const details = Object.entries(facets).map(([name, values]) => `${name}: ${values.join(', ')}`);
    const all = [...details, ...(certificate === null ? [] : [`certificate: ${certificate}`])];
    return row([protocol, html(address), String(requests), lastSeenAt, html(all.join('; '))]);
  });
}

function reportHtml(report: ReportJson): string {
  const { summary, coverage, broken, waived, excused, undecided, held } = report;
  const missing = coverage.core_missing;
  const core =
    missing.length === 0
      ? ''
      : `<p>Core rules that never came up, though they could: ${missing.map(html).join(', ')}</p>`;
  const heldIds = held.map(({ rule }) => `<code>${html(rule)}</code>`).join(', ');
  return `<section><h2>${html(headingText(report))} <span class="${summary.verdict}">${summary.verdict}</span></h2>
<p>${html(identitiesText(report))}</p>
<p>${coverageText(report)}<br><progress max="${coverage.observable}" value="${coverage.exercised}"></progress></p>
${core}
${table('Identities', ['Protocol', 'Address', 'Requests', 'Last seen', 'Details'], identityRows(report))}
${findingTable('Broken', broken)}
${findingTable('Excused', excused)}
${held.length === 0 ? '' : `<h3>Held</h3><p>${heldIds}</p>`}
${ruleTable('Undecided', 'Reason', undecided, () => undecidedText)}
${ruleTable('Not exercised', 'How to bring it about', report.not_exercised, situationText)}
${ruleTable('Not observable', 'Reason', report.not_observable, ({ reason }) => reason ?? '')}
${findingTable('Waived', waived)}</section>`;
}

/** The simulator, and the time of the document. */
export function headTable({ derbench, started_at: startedAt, made_at: madeAt, faults }: ReportsJson): string {
  const rows = [
    ['Simulator', `derbench ${derbench.version}, build ${derbench.build_id}`],
    ['Time', `${startedAt} to ${madeAt}`],
    ['Faults', faults.length === 0 ? 'none' : faults.join(', ')],
  ].map(([name = '', value = '']) => `<tr><th scope="row">${name}</th><td>${html(value)}</td></tr>`);
  return `<table><tbody>${rows.join('')}</tbody></table>`;
}

/** One section for each peer. */
export const findingsSections = ({ peers }: ReportsJson): string =>
  `<p>${legend.map(html).join('<br>')}</p>\n` +
  (peers.length === 0 ? '<p>No peer has sent a valid request.</p>' : peers.map(reportHtml).join('\n'));

export function htmlReport(reports: ReportsJson): string {
  const [first, ...others] = reports.peers;
  const title = first !== undefined && others.length === 0 ? `Findings: ${first.peer.name}` : 'Findings';
  const body = `<h1>Findings</h1>\n${headTable(reports)}\n${findingsSections(reports)}`;
  return htmlDocument(title, findingsStyle, body);
}
