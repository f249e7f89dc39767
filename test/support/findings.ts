/** A registry of findings with a clock, timers and faults that a test moves. */
import type { ActiveFault } from '../../src/core/faults/active-fault.ts';
import type { EndedFault, FaultChange } from '../../src/core/faults/registry.ts';
import { FindingRegistry } from '../../src/core/findings/registry.ts';
import type { FindingRegistryOptions } from '../../src/core/findings/registry.ts';
import { reportOn } from '../../src/core/findings/report.ts';
import type { CellState, ReportRow } from '../../src/core/findings/report.ts';
import type { Peer } from '../../src/core/findings/peer.ts';
import type { PeerIdentity } from '../../src/core/findings/identity.ts';
import type { RuleRow } from '../../src/core/findings/rule.ts';
import { simTimeFromMs } from '../../src/core/time/clock.ts';
import { HandTimers } from './timers.ts';
import { HandWall } from './wall.ts';

/** A rule that forbids something, for tests of the registry and its readers. */
export const plainRule: RuleRow = {
  severity: 'violation',
  basis: 'clause',
  clause: 'Standard 1.2',
  title: 'A title.',
  situation: 'The peer does it.',
  proof: 'It does not.',
  consequence: 'A device fails.',
  trap: 'None.',
};

export class FindingsRig {
  readonly wall = new HandWall();
  readonly timers = new HandTimers(this.wall);
  active: readonly ActiveFault[] = [];
  ended: readonly EndedFault[] = [];
  isRealTime = true;
  hasStalled = false;
  isOn = true;
  readonly lines: string[] = [];
  readonly options: FindingRegistryOptions;
  readonly registry: FindingRegistry;
  #onFaults: (change: FaultChange) => void = () => undefined;

  constructor() {
    const log = (line: string) => {
      this.lines.push(line);
    };
    const faults = () => this.active;
    const ended = () => this.ended;
    this.options = {
      wall: this.wall,
      sim: () => simTimeFromMs(this.wall.nowMs()),
      later: this.timers.later,
      log: { debug: log, info: log, warning: log, error: log },
      faults: {
        get active() {
          return faults();
        },
        get ended() {
          return ended();
        },
        onChange: (listener) => {
          this.#onFaults = listener;
          return () => undefined;
        },
      },
      isRealTime: () => this.isRealTime,
      hasStalled: () => this.hasStalled,
      isOn: () => this.isOn,
      isKept: () => false,
    };
    this.registry = new FindingRegistry(this.options);
  }

  /** Ends a fault now. */
  endFault(fault: ActiveFault): void {
    this.active = this.active.filter((one) => one !== fault);
    this.ended = [...this.ended, { fault, end: 'cleared', endedAtMs: this.wall.nowMs() }];
    this.#onFaults({ begun: [], ended: [fault] });
  }

  /** A peer that has sent a valid request. */
  peer(address: string, protocol: PeerIdentity['protocol'] = 'modbus', certificate?: string): Peer {
    const peer = this.registry.peer({ protocol, address, ...(certificate !== undefined && { certificate }) });
    peer.isValid = true;
    return peer;
  }

  /** The row of a rule in the report on the peer. @throws Error if no judge has the rule */
  row(peer: Peer, ruleId: string): ReportRow {
    const group = { id: peer.id, name: peer.identity.address, isNamed: false, peers: [peer] };
    const row = reportOn(this.registry, group).rows.find(({ rule }) => rule.id === ruleId);
    if (row === undefined) throw new Error(`no judge has ${ruleId}`);
    return row;
  }

  /** Ids of the rules in a state at the peer; default: those that it has broken. */
  ids(peer: Peer, state: CellState = 'broken'): string[] {
    const group = { id: peer.id, name: peer.identity.address, isNamed: false, peers: [peer] };
    return reportOn(this.registry, group).rows.flatMap(({ rule, state: is }) => (is === state ? [rule.id] : []));
  }
}
