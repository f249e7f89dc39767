/** Conditions of steps and rules on IEEE 2030.5 events. */
import type { CsipEvent } from '../../contract/csip-reports.ts';
import { csipEventText } from '../file/words.ts';
import type { CsipEventTest } from '../model.ts';
import type { Observation, Observed } from './observed.ts';
import type { ScenarioHost } from './host.ts';

/** Persistent states: an event that is already in one counts. */
const lasting: readonly CsipEventTest['state'][] = ['scheduled', 'active', 'started'];

/** Events by condition that have counted in a run. Each counts once, so that a rule runs once for each. */
const countedIn = new WeakMap<ScenarioHost, Map<CsipEventTest, Set<string>>>();

function countedBy(test: CsipEventTest, host: ScenarioHost): Set<string> {
  const ofHost = countedIn.get(host) ?? new Map<CsipEventTest, Set<string>>();
  countedIn.set(host, ofHost);
  const counted = ofHost.get(test) ?? new Set<string>();
  ofHost.set(test, counted);
  return counted;
}

const pathOf = (href: string): string => (URL.canParse(href) ? new URL(href).pathname : href);

/** True if an event matches a test, apart from its state. */
function concerns({ mrid, device, lfdi, program }: CsipEventTest, event: CsipEvent): boolean {
  return (
    (mrid === null || event.mrid === mrid) &&
    (device === null || event.deviceIndices.includes(device)) &&
    (lfdi === null || event.endDeviceLfdi === lfdi) &&
    (program === null ||
      event.programMrid?.toUpperCase() === program.toUpperCase() ||
      [event.programHref, pathOf(event.programHref)].includes(program))
  );
}

const isIn = (state: CsipEventTest['state'], event: CsipEvent): boolean =>
  state === 'started' ? event.state === 'active' && event.started : event.state === state;

const keyOf = ({ endDeviceLfdi, mrid }: CsipEvent): string => `${endDeviceLfdi} ${mrid}`;

/** Met by the first matching event, and stays met whatever becomes of it. */
export class ObservedCsipEvent implements Observed {
  readonly position = null;
  readonly #test: CsipEventTest;
  readonly #host: ScenarioHost;
  readonly #counted: Set<string>;
  readonly #end: () => void;
  #met: string | null = null;

  constructor(test: CsipEventTest, { host, wake }: Observation) {
    this.#test = test;
    this.#host = host;
    this.#counted = countedBy(test, host);
    // an event with an mRID may have reached its final state earlier
    if (lasting.includes(test.state) || test.mrid !== null) for (const event of host.csip.events()) this.#take(event);
    this.#end = host.csip.onEvent((event) => {
      this.#take(event);
      if (this.#met !== null) wake();
    });
  }

  #take(event: CsipEvent): void {
    if (this.#met !== null || !isIn(this.#test.state, event) || !concerns(this.#test, event)) return;
    if (!this.#counted.has(keyOf(event))) this.#met = keyOf(event);
  }

  look(): boolean {
    return this.#met !== null;
  }

  holds(): boolean {
    return false;
  }

  /** The start or end of an event, where time must stop, if it is on the simulated clock. */
  get due(): number {
    if (this.#met !== null) return Infinity;
    const { csip, plant } = this.#host;
    const dues = csip.events().flatMap((event) => (concerns(this.#test, event) ? event.nextAt : []));
    return Math.min(Infinity, ...dues.filter((due) => due > plant.now));
  }

  seen(): string {
    const words = csipEventText(this.#test);
    if (this.#met !== null) return `${words} came`;
    const states = this.#host.csip.events().map(({ mrid, state }) => `${mrid} is ${state}`);
    const list = states.length === 0 ? 'no event is known' : `known: ${states.slice(0, 5).join(', ')}`;
    return `${words} did not come; ${list}`;
  }

  take(): void {
    if (this.#met !== null) this.#counted.add(this.#met);
  }

  end(): void {
    this.#end();
  }
}
