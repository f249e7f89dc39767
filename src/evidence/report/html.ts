/** The whole evidence as one page without scripts and external requests. */
import { htmlDocument, htmlText as html } from '../../core/markup.ts';
import { findingsStyle, findingsSections, headTable, row, table } from '../findings/html.ts';
import type { AnswerJson, ChangeJson, DeviceEvidence, DifferenceJson, EvidenceJson, Value } from './document.ts';
import { isFault } from './document.ts';

const words = (value: Value) => html(value === null ? '–' : String(value));

const differenceRow = (difference: DifferenceJson) => {
  const { quantity, unit, reference, protocol, place, value, cause, explanation } = difference;
  const mark = isFault(difference) ? `<span class="violation">${cause}</span>` : cause;
  const unitText = unit === null ? '' : ` ${html(unit)}`;
  return row([
    html(quantity),
    `${words(reference)}${unitText}`,
    html(`${protocol}: ${place}`),
    `${words(value)}${unitText}`,
    `${mark}<br><small>${html(explanation ?? '')}</small>`,
  ]);
};

const answerRow = ({ protocol, peer, wall_time: at, command, told, found, done, cause, explanation }: AnswerJson) =>
  row([
    `${html(protocol)}, ${html(peer)}<br><small>${at}</small>`,
    `${html(command)}<br>${html(told.name)} = ${words(told.value)}`,
    found === null ? '–' : `${html(found.place)} = ${words(found.value)}`,
    `<span class="${done === false ? 'violation' : 'remark'}">${html(cause.replaceAll('_', ' '))}</span>` +
      `<br><small>${html(explanation ?? '')}</small>`,
  ]);

const changeRow = ({ point, start_value: start, value, unit, changed_by: by }: ChangeJson) =>
  row([
    html(point),
    words(start),
    `${words(value)}${unit === null ? '' : ` ${html(unit)}`}`,
    by === null ? '–' : html([by.source, by.source_detail].filter(Boolean).join(' ')),
  ]);

function deviceHtml({ device_index: index, name, differences, answers, unrecorded, changes, ...rest }: DeviceEvidence) {
  const notDone = answers.filter(({ done }) => done === false).length;
  const counts = [
    `${rest.quantity_count} quantities compared, ${differences.length} differences`,
    `${answers.length} answered commands, ${notDone} not done`,
    `${changes.length} points differ from their start value`,
  ];
  const gaps = unrecorded.map(({ protocol, reason }) => `${html(protocol)}: ${html(reason)}`);
  return `<section><h2>Device ${index}, ${html(name)}</h2>
<p>${counts.join('; ')}.</p>
${gaps.length === 0 ? '' : `<p><small>Commands that are not known: ${gaps.join('; ')}</small></p>`}
${table('Differences between protocols', ['Quantity', 'Register', 'Shown by', 'Value', 'Cause'], differences.map(differenceRow))}
${table('Answered and done', ['Peer', 'Told', 'Found', 'Verdict'], answers.map(answerRow))}
${table('Changes', ['Point', 'At the start', 'Now', 'By'], changes.map(changeRow))}</section>`;
}

export function evidencePage(evidence: EvidenceJson): string {
  const { devices, more_devices: more, refusals } = evidence;
  const refused = refusals.map(({ wall_time: at, by, text, count }) =>
    row([at, html([by?.source, by?.source_detail].filter(Boolean).join(' ')), html(text), String(count)]),
  );
  return htmlDocument(
    'Evidence',
    findingsStyle,
    `<h1>Evidence</h1>
${headTable(evidence)}
<h2>Findings</h2>
${findingsSections(evidence)}
<h2>Refusals</h2>
${table('Refused requests, writes and calls', ['Time', 'By', 'Reason', 'Count'], refused) || '<p>Nothing was refused.</p>'}
${devices.map(deviceHtml).join('\n')}
${more === 0 ? '' : `<p>${more} further devices are left out.</p>`}`,
  );
}
