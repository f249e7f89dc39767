/** Assertions about peers: what they did wrong, and which checks came up, since the step began. */
import { isAtLeast } from '../../core/findings/registry.ts';
import type { FindingRegistry, Rule } from '../../core/findings/registry.ts';
import { severities } from '../../core/findings/rule.ts';
import type { FindingSubject } from '../model.ts';
import type { FindingMarks, RunSources, SubjectObserver } from './observation.ts';

export const noMarks: FindingMarks = new Map();

const cellsOf = ({ peers, list }: FindingRegistry) =>
  peers.valid.flatMap((peer) =>
    list.flatMap((rule) => {
      const cell = peer.cells[rule.number];
      return cell === undefined ? [] : [{ peer, rule, cell }];
    }),
  );

export function markFindings(registry: FindingRegistry): FindingMarks {
  return new Map(cellsOf(registry).map(({ cell }) => [cell, { exercised: cell.exercised, offences: cell.offences }]));
}

/** Checks of the protocols of all peers. */
export interface ChecksOfPeers {
  /** rules that came up */
  readonly exercised: number;
  readonly rules: number;
}

/** The rules that came up since the marks, and all that can. */
export function checksSince(registry: FindingRegistry, marks: FindingMarks): ChecksOfPeers {
  const protocols = new Set<string>(registry.peers.valid.map(({ identity }) => identity.protocol));
  const rules = registry.list.filter(
    (rule) => protocols.has(rule.protocol) || (rule.protocol === 'common' && protocols.size > 0),
  );
  return { exercised: cameUp(registry, marks).size, rules: rules.length };
}

function cameUp(registry: FindingRegistry, marks: FindingMarks): ReadonlySet<string> {
  const risen = cellsOf(registry).filter(({ cell }) => cell.exercised > (marks.get(cell)?.exercised ?? 0));
  return new Set(risen.map(({ rule }) => rule.id));
}

/** Cells in which a peer has broken a rule since the marks, without waived ones; the worst first. */
function offencesSince(registry: FindingRegistry, marks: FindingMarks, fits: (rule: Rule) => boolean) {
  return cellsOf(registry)
    .flatMap(({ peer, rule, cell }) => {
      const times = cell.offences - (marks.get(cell)?.offences ?? 0);
      const counts = times > 0 && rule.isEnabled && rule.failure === null && fits(rule);
      if (!counts || registry.waivers.inForce(rule.id, peer) !== undefined) return [];
      const name = registry.peers.nameOf(peer) ?? peer.identity.address;
      const text = `${rule.id} (${rule.severity}) by ${name}: ${cell.cases.at(-1)?.text ?? ''} (${rule.row.clause})`;
      return [{ rule, times, text }];
    })
    .toSorted((a, b) => severities.indexOf(a.rule.severity) - severities.indexOf(b.rule.severity));
}

/** Maximum number of cases or rules in the text of an observation. */
const maxNamed = 5;

function listText(parts: readonly string[]): string {
  const more = parts.length > maxNamed ? `; and ${parts.length - maxNamed} more` : '';
  return parts.slice(0, maxNamed).join('; ') + more;
}

/** The checks that came up, and those that could not. */
function coverageText(registry: FindingRegistry, marks: FindingMarks): string {
  const { exercised, rules } = checksSince(registry, marks);
  const stopped = registry.list.filter((rule) => rule.row.mixesClocks === true && !registry.judges(rule)).length;
  return [
    `${exercised} of ${rules} checks came up`,
    ...(stopped > 0 ? [`${stopped} are not judged, because simulated time does not run at the rate 1`] : []),
    ...(registry.pending > 0 ? [`${registry.pending} waits for peers have not ended`] : []),
  ].join('; ');
}

function observe(subject: FindingSubject, registry: FindingRegistry, marks: FindingMarks) {
  if (!registry.on) return { holds: false, text: () => 'findings are off' };
  switch (subject.kind) {
    case 'no_findings': {
      const { severity, protocol, except } = subject;
      const offences = offencesSince(
        registry,
        marks,
        (rule) =>
          isAtLeast(rule.severity, severity) &&
          (protocol === null || rule.protocol === protocol) &&
          !except.includes(rule.id),
      );
      const words = offences.length === 0 ? 'there was none' : listText(offences.map(({ text }) => text));
      return { holds: offences.length === 0, text: () => `${words}; ${coverageText(registry, marks)}` };
    }
    case 'finding': {
      const offences = offencesSince(registry, marks, ({ id }) => id === subject.rule);
      const times = offences.reduce((sum, one) => sum + one.times, 0);
      return {
        holds: times >= subject.atLeast,
        text: () => `it came ${times} times; ${coverageText(registry, marks)}`,
      };
    }
    case 'exercised': {
      const ids = cameUp(registry, marks);
      const missing = subject.rules.filter((id) => !ids.has(id));
      const words = missing.map((id) => `${id} (${registry.ruleOf(id)?.row.situation ?? 'there is no such rule'})`);
      const text = missing.length === 0 ? 'all came up' : `never came up: ${listText(words)}`;
      return { holds: missing.length === 0, text: () => text };
    }
  }
}

/** @param marks counts at the begin of the step */
export function findingObserver(subject: FindingSubject, sources: RunSources, marks: FindingMarks): SubjectObserver {
  const { findings } = sources.host;
  const end = findings.onCase(() => {
    sources.wake();
  });
  return { observe: () => observe(subject, findings, marks), history: () => '', end };
}
