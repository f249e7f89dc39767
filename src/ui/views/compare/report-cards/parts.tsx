/** Calls, names and controls that the list of peers and the reports share. */
import { del, get } from '../../../api/call';
import type { ReplyOf } from '../../../api/call';
import { Action } from '../../../kit/action';
import { Chip } from '../../../kit/panel';
import type { Tone } from '../../../kit/panel';

export type PeerEntry = ReplyOf<'findings/peers'>['peers'][number];
export type Report = ReplyOf<'findings/peers/{id}'>;
export type Finding = Report['broken'][number];

export const peersCall = get('findings/peers');
export const waiversCall = get('findings/waivers');
/** Polling interval of peers, reports and waivers, ms. */
export const paceMs = 2000;

/** By severity of a rule. */
export const severityTones: Readonly<Record<Finding['severity'], Tone>> = {
  violation: 'bad',
  risk: 'warn',
  remark: 'muted',
};

const tones: Readonly<Record<PeerEntry['verdict'], Tone>> = {
  violations: 'bad',
  risks: 'warn',
  remarks: 'muted',
  inconclusive: 'off',
  clean: 'good',
};

export const Verdict = ({ peer: { verdict } }: { readonly peer: PeerEntry }) => (
  <Chip tone={tones[verdict]}>{verdict}</Chip>
);

type State = 'broken' | 'held' | 'not_exercised' | 'not_observable';

/** Number of rules of all severities in a state. */
export const countOf = ({ summary }: PeerEntry, state: State): number =>
  Object.values(summary).reduce((sum, counts) => sum + counts[state], 0);

/** The four figures of a report card: rules kept, broken, to look at, not exercised. */
export function Figures({ peer }: { readonly peer: PeerEntry }) {
  const { violation, risk, remark } = peer.summary;
  const figures = [
    ['rules kept', countOf(peer, 'held'), 'good'],
    ['broken', violation.broken, 'bad'],
    ['to look at', risk.broken + remark.broken, 'warn'],
    ['not exercised', countOf(peer, 'not_exercised'), 'off'],
  ] as const;
  return (
    <ul class="figures" aria-label={`Rules of ${peer.name}`}>
      {figures.map(([name, count, look]) => (
        <li key={name}>
          <strong class={count === 0 ? 'off' : look}>{count}</strong> <span>{name}</span>
        </li>
      ))}
    </ul>
  );
}

export const protocolNames: Readonly<Record<string, string>> = {
  modbus: 'Modbus',
  csip: 'CSIP',
  ocpp: 'OCPP',
  dnp3: 'DNP3',
  common: 'All protocols',
};

/** Id that leads to the report also after the peer gets a name or loses it. */
export const lastingId = ({ id, identities }: PeerEntry) => identities[0]?.id ?? id;

export const endings = { html: 'html', junit: 'xml', json: 'json', text: 'txt' } as const;
type Format = keyof typeof endings;

/** Address of the report on a peer as a document. */
export const documentHref = (id: string, format: Format): string =>
  get('findings/peers/{id}/report', { params: { id }, query: { format } }).address;

/** Name of the saved document. */
export const documentName = ({ name }: PeerEntry, format: Format): string =>
  `peer-${name.replace(/[^\w-]+/g, '-')}.${endings[format]}`;

export const DeleteWaiver = ({ id }: { readonly id: number }) => (
  <Action call={del('findings/waivers/{id}', { params: { id } })}>Delete waiver {id}</Action>
);
