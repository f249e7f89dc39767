/** Attention to the simulator: its time, injected faults, holds, limits of the site, scenarios. */
import type { HoldRecord } from '../holds/book.ts';
import { meterIndex } from '../../core/faults/kinds.ts';
import { powerText } from '../../contract/power-text.ts';
import { siteLimitNames } from '../../contract/site.ts';
import type { SiteNow } from '../../contract/site.ts';
import { groupBy } from '../http/paths.ts';
import type { AttentionItem, AttentionRule } from './items.ts';

export const lateTime: AttentionRule = ({ watched }) => {
  if (watched === undefined) return [];
  const { lateSinceMs, rates, stalledAtMs } = watched().time;
  const base = { level: 'bad' as const, devices: [], ref: { type: 'time' as const, id: 'clock' } };
  const late: AttentionItem = {
    ...base,
    id: 'late',
    title: 'Simulation is late',
    text: `The machine reaches ×${(rates?.reached ?? 0).toFixed(1)} of the rate ×${rates?.rate ?? 1}.`,
    sinceMs: lateSinceMs,
  };
  const stalled: AttentionItem = {
    ...base,
    id: `stalled/${stalledAtMs}`,
    title: 'Simulator stood still',
    text: 'The simulator computed and answered nothing for more than 1 s.',
    sinceMs: stalledAtMs,
  };
  return [...(lateSinceMs === null ? [] : [late]), ...(stalledAtMs === null ? [] : [stalled])];
};

/** Faults in force, one item for each kind, so that nobody searches for a fault that was injected. */
export const faultsInForce: AttentionRule = ({ faults }) => {
  faults.expire();
  const groups = groupBy(faults.active, ({ protocol, facts }) => `${protocol}.${facts.kind.kind}`);
  return [...groups].map(([name, all]) => {
    const indexes = all.flatMap(({ facts: { deviceIndex }, group }) => group ?? deviceIndex ?? []);
    const count = all.length === 1 ? 'An injected fault' : `${all.length} injected faults`;
    return {
      id: `fault/${name}`,
      level: 'warn',
      devices: [...new Set(indexes)].filter((index) => index !== meterIndex),
      title: `Fault in force: ${name}`,
      text: `${count} ${name} ${all.length === 1 ? 'is' : 'are'} in force.`,
      sinceMs: Math.min(...all.map(({ facts: { beganAtMs } }) => beganAtMs)),
      ref: { type: 'fault', id: String(all[0]?.facts.id ?? '') },
    };
  });
};

/** Holds that are looked at: each look reads the points of a hold. */
const maxHolds = 200;

export const holdsInForce: AttentionRule = ({ holds }) => {
  const active: HoldRecord[] = [];
  // ended ones follow the active ones
  for (const record of holds.list().records) {
    if (record.end !== null || active.length === maxHolds) break;
    active.push(record);
  }
  const [first] = active;
  if (first === undefined) return [];
  return [
    {
      id: 'holds',
      level: 'warn',
      devices: [...new Set(active.map(({ deviceIndex }) => deviceIndex))],
      title: active.length === 1 ? 'Hold in force' : 'Holds in force',
      text: active.length === 1 ? `The hold ${first.id} is in force.` : `${active.length} holds are in force.`,
      sinceMs: Math.min(...active.map(({ begunBy }) => begunBy.wallMs)),
      ref: { type: 'hold', id: first.id },
    },
  ];
};

const limitWords = { export: 'Export', import: 'Import', generation: 'Generation', load: 'Load' } as const;

function exceededIn({ devices, limits }: SiteNow): readonly AttentionItem[] {
  const scope = devices === null ? 'the site' : `${devices.length === 1 ? 'device' : 'devices'} ${devices.join(', ')}`;
  return siteLimitNames
    .filter((name) => limits[name].exceeded)
    .map((name) => ({
      id: `site/${devices === null ? '' : devices.join('-')}/${name}`,
      level: 'warn',
      devices: devices ?? [],
      title: `${limitWords[name]} limit exceeded`,
      text: `The power of ${scope} is beyond its ${name} limit of ${powerText(limits[name].limitW ?? 0)}.`,
      sinceMs: limits[name].setBy?.wallMs ?? null,
      ref: { type: 'site', id: name },
    }));
}

export const exceededLimits: AttentionRule = ({ plant }) => plant.siteScopes.flatMap(exceededIn);

export const failedScenarios: AttentionRule = ({ scenarios }) =>
  scenarios.list().flatMap(({ id, name, run }): readonly AttentionItem[] => {
    if (run === null || (run.state !== 'failed' && run.state !== 'error')) return [];
    const reason = run.error ?? run.failures[0] ?? '';
    return [
      {
        id: `scenario/${id}/${run.startedAtMs}`,
        level: 'info',
        devices: [],
        title: 'Scenario failed',
        text: `The scenario ${name} has failed${reason === '' ? '' : `: ${reason}`}`,
        sinceMs: run.endedAtMs,
        ref: { type: 'scenario', id },
      },
    ];
  });
