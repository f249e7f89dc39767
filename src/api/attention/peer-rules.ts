/** Attention to peers: broken rules, refused writes, commands that were answered and not done, silence. */
import { answersOf } from '../../evidence/answers/gather.ts';
import type { Device } from '../../contract/device.ts';
import { remoteSources } from '../../core/origin.ts';
import { peerHost } from '../../core/timeline/timeline.ts';
import type { TimelineEntry } from '../../core/timeline/entry.ts';
import { groupBy } from '../http/paths.ts';
import type { AttentionContext, AttentionItem, AttentionRule } from './items.ts';

/** Violations of rules, one item for each rule and peer; a further case is another item. */
export const brokenRules: AttentionRule = ({ findings }) =>
  findings.peers.valid.flatMap((peer) =>
    findings.list.flatMap((rule): readonly AttentionItem[] => {
      const cell = peer.cells[rule.number];
      if (cell === undefined || cell.broken === 0 || rule.severity !== 'violation') return [];
      if (findings.waivers.inForce(rule.id, peer) !== undefined) return [];
      const { address } = peer.identity;
      const times = cell.broken === 1 ? '' : ` (${cell.broken} times)`;
      return [
        {
          id: `finding/${cell.id}`,
          level: 'bad',
          devices: [...cell.devices],
          title: rule.row.title,
          text: `${address}: ${cell.cases.at(-1)?.text ?? rule.row.title}${times}`,
          sinceMs: cell.last?.wallMs ?? null,
          ref: { type: 'finding', id: String(cell.id) },
        },
      ];
    }),
  );

const hostOf = (peer = 'a peer') => peerHost(peer);

/** Refused writes and calls of peers, one item for each peer and text; a further one is another item. */
export const refusedWrites: AttentionRule = ({ timeline }) => {
  const ofPeers = timeline.list({ kinds: ['refusal'] }).filter(({ by }) => by && remoteSources.includes(by.source));
  const groups = groupBy(ofPeers, ({ by, title, text }) => JSON.stringify([by?.source, hostOf(by?.peer), title, text]));
  return [...groups.values()].flatMap((entries) => {
    const last = entries.at(-1);
    return last === undefined ? [] : refusalItem(entries, last);
  });
};

function refusalItem(entries: readonly TimelineEntry[], last: TimelineEntry): AttentionItem {
  const count = entries.reduce((sum, entry) => sum + entry.count, 0);
  return {
    id: `refusal/${last.id}`,
    level: 'warn',
    devices: [...new Set(entries.flatMap(({ devices }) => [...devices]))],
    title: last.title,
    text: `${hostOf(last.by?.peer)}: ${last.text}${count === 1 ? '' : ` (${count} times)`}`,
    sinceMs: last.wallMs,
    // the sentence of an entry names the cause where the messages are not recorded
    ref: last.ref ?? { type: 'entry', id: String(last.id) },
  };
}

/** Commands older than this are not looked at, ms. */
const answersMs = 3_600_000;
/** Devices whose answered commands are looked at: each look reads the messages. */
const maxDevices = 100;

/** Devices with messages that can be judged: those of stations are always recorded, others on request. */
function judgedDevices({ plant, modbusMessages, csipClient, dnp3, ocpp }: AttentionContext): readonly Device[] {
  const isRecorded =
    modbusMessages.recording ||
    (csipClient.enabled && csipClient.messages.recording) ||
    (dnp3.enabled && dnp3.recording);
  const devices = isRecorded
    ? plant.devices
    : ocpp.enabled
      ? plant.devices.filter(({ assetType }) => assetType === 'evse')
      : [];
  return devices.slice(0, maxDevices);
}

/** Commands that were answered positively and that the device does not have. */
export const undoneAnswers: AttentionRule = (ctx) => {
  const sinceMs = ctx.clock.nowMs() - answersMs;
  return judgedDevices(ctx).flatMap((device) =>
    answersOf(ctx, device, { sinceMs, protocol: null })
      .judged.filter(({ cause }) => cause === 'not_done')
      .map(({ exchange, claim, explanation }): AttentionItem => {
        const { protocol, answerId, peerName, answeredWallMs } = exchange;
        const why = explanation === null ? '' : `: ${explanation}`;
        return {
          id: `answer/${protocol}/${device.index}/${answerId}/${claim.name}`,
          level: 'bad',
          devices: [device.index],
          title: 'Answered and not done',
          text: `${peerName} ${claim.did}, which ${device.name} answered and does not have${why}`,
          sinceMs: answeredWallMs,
          ref: { type: 'answers', id: String(device.index) },
        };
      }),
  );
};

export const silentPeers: AttentionRule = ({ watched }) =>
  (watched?.().silentPeers ?? []).map(({ id, name, usualS, sinceMs }) => ({
    id: `silent/${id}`,
    level: 'warn',
    devices: [],
    title: 'Peer silent',
    text: `${name} has sent nothing for three of its usual intervals of ${Math.round(usualS)} s.`,
    sinceMs,
    ref: null,
  }));
