/** The report on one peer, which may have several identities. */
import type { ComponentChildren } from 'preact';
import { del, get } from '../../../api/call';
import { Action, Refused } from '../../../kit/action';
import { Chip, Empty, Facts, Panel } from '../../../kit/panel';
import { wallDate, words } from '../../../look/format';
import { useLive } from '../../../store/live';
import { href } from '../../../store/route';
import { Evidence } from './evidence';
import { FindingMessages } from './finding-messages';
import { NamePeer, Waive } from './forms';
import {
  DeleteWaiver,
  documentHref,
  documentName,
  Figures,
  lastingId,
  paceMs,
  protocolNames,
  severityTones,
  Verdict,
  waiversCall,
} from './parts';
import type { Finding, Report } from './parts';

export function PeerReport({ id }: { readonly id: string }) {
  const { data: report, problem } = useLive(get('findings/peers/{id}', { params: { id } }), paceMs);
  return (
    <>
      <div class="title">
        <h2>{report?.name ?? 'Peer'}</h2>
        {report && <Verdict peer={report} />}
        <a href={href('compare/report-cards')}>All peers</a>
      </div>
      <Refused problem={problem} />
      {report && (
        <>
          <Summary report={report} />
          <Broken report={report} />
          <NotExercised report={report} />
          <Waived report={report} />
          <Rules title="Excused" rows={report.excused}>
            {(row) => (
              <>
                <p>Does not count: {row.reason}.</p>
                <Evidence row={row} />
              </>
            )}
          </Rules>
          <Rules title="Not observable" rows={report.not_observable}>
            {({ reason }) => <p>{reason}.</p>}
          </Rules>
          <Rules title="Held" rows={report.held} />
          <NamePeer key={String(report.named)} report={report} />
        </>
      )}
    </>
  );
}

/** Identities and coverage. */
function Summary({ report }: { readonly report: Report }) {
  const { name, identities, coverage } = report;
  const call = del('findings', { query: { peer: lastingId(report) } });
  return (
    <Panel
      title="Report"
      tools={
        <>
          <Documents report={report} />
          <Action call={call} confirm={`Forget the findings on ${name}? Its name and waivers stay.`}>
            Clear
          </Action>
        </>
      }
    >
      <div class="stack">
        <Figures peer={report} />
        <p>
          <strong>
            {coverage.exercised} of {coverage.observable} checks came up.
          </strong>{' '}
          {coverage.core_missing.length > 0 && 'A clean verdict also needs the core checks that are marked below.'}
        </p>
        {identities.map(({ id, protocol, address, certificate, open_connections, requests, last_seen, facets }) => (
          <Facts
            key={id}
            rows={[
              [protocolNames[protocol] ?? protocol, address],
              certificate === null ? null : ['Certificate', <code key="certificate">{certificate}</code>],
              ['Open connections', open_connections],
              ['Requests', requests],
              ['Last seen', wallDate(last_seen)],
              ...facets.map((facet) => [words(facet.name), facet.values.join(', ')] as const),
            ]}
          />
        ))}
      </div>
    </Panel>
  );
}

/** Links to the report as a document. */
function Documents({ report }: { readonly report: Report }) {
  const id = lastingId(report);
  return (
    <span class="row" role="group" aria-label="Documents">
      <a href={documentHref(id, 'html')} target="_blank" rel="noopener">
        page (new tab)
      </a>
      {(['junit', 'json', 'text'] as const).map((format) => (
        <a key={format} href={documentHref(id, format)} download={documentName(report, format)}>
          {documentTitles[format]}
        </a>
      ))}
    </span>
  );
}

const documentTitles = { junit: 'JUnit XML', json: 'JSON', text: 'text' } as const;

interface RulesProps {
  readonly title: string;
  readonly rows: readonly Finding[];
  readonly empty?: string;
  /** content below the title of a rule */
  readonly children?: (row: Finding) => ComponentChildren;
}

/** Rules in one state; nothing without rules, unless `empty` says why. */
function Rules({ title, rows, empty, children }: RulesProps) {
  if (rows.length === 0 && empty === undefined) return null;
  return (
    <Panel title={`${title} (${rows.length})`} flush>
      {rows.length === 0 && <Empty>{empty}</Empty>}
      <ul class="rules">
        {rows.map((row) => (
          <li key={row.rule} data-test={row.rule}>
            <div class="row">
              <Chip tone={severityTones[row.severity]}>{row.severity}</Chip>
              <h3>{row.title}</h3>
            </div>
            {children?.(row)}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

const Broken = ({ report }: { readonly report: Report }) => (
  <Rules title="Broken" rows={report.broken} empty="No rule was broken so far.">
    {(row) => (
      <>
        <Case row={row} />
        <FindingMessages row={row} />
        <Evidence row={row} />
        <Waive row={row} report={report} />
      </>
    )}
  </Rules>
);

function Case({
  row: { text, rule, clause, count, repeats, exercised, first_at, last_at, devices, more_devices, consequence },
}: {
  readonly row: Finding;
}) {
  const times = `${count} of ${exercised}${repeats > 0 ? `, repetitions: ${repeats}` : ''}`;
  return (
    <>
      {text !== null && <p>{text}</p>}
      <Facts
        rows={[
          ['Rule', <code key="rule">{rule}</code>],
          ['Clause', clause],
          ['Cases', times],
          ['First', wallDate(first_at)],
          ['Last', wallDate(last_at)],
          devices.length === 0 ? null : ['Devices', `${devices.join(', ')}${more_devices ? ' and more' : ''}`],
          ['Consequence', consequence],
        ]}
      />
    </>
  );
}

const NotExercised = ({ report: { not_exercised, coverage } }: { readonly report: Report }) => (
  <Rules title="Not exercised" rows={not_exercised}>
    {({ rule, situation, provoked_by, undecided }) => (
      <>
        <p>
          {situation} {coverage.core_missing.includes(rule) && <Chip tone="warn">core check</Chip>}
        </p>
        {undecided > 0 && <p class="muted">Could not be judged to the end: {undecided}.</p>}
        {provoked_by.length > 0 && (
          <p class="row">
            Inject:
            {provoked_by.map((fault) => (
              <a key={fault} href={href('inputs/faults', { fault })}>
                {words(fault.replace('.', ' '))}
              </a>
            ))}
          </p>
        )}
      </>
    )}
  </Rules>
);

/** Broken rules that a waiver accepts, each with its waivers. */
function Waived({ report: { waived, name, named, identities } }: { readonly report: Report }) {
  const waivers = useLive(waiversCall, paceMs).data?.waivers ?? [];
  const isHere = (peer: string | null) =>
    peer === null || (named && peer === name) || identities.some(({ id }) => id === peer);
  return (
    <Rules title="Waived" rows={waived}>
      {(row) => (
        <>
          <p>Accepted: {row.reason}</p>
          <Case row={row} />
          <Evidence row={row} />
          {waivers
            .filter(({ rule, peer }) => rule === row.rule && isHere(peer))
            .map(({ id }) => (
              <DeleteWaiver key={id} id={id} />
            ))}
        </>
      )}
    </Rules>
  );
}
