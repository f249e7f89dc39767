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

export const protocolNames: Readonly<Record<string, string>> = {
  modbus: 'Modbus',
  csip: 'CSIP',
  ocpp: 'OCPP',
  dnp3: 'DNP3',
};

/** Id that leads to the report also after the peer gets a name or loses it. */
export const lastingId = ({ id, identities }: PeerEntry) => identities[0]?.id ?? id;

export const DeleteWaiver = ({ id }: { readonly id: number }) => (
  <Action call={del('findings/waivers/{id}', { params: { id } })}>Delete waiver {id}</Action>
);
