/** Events of IEEE 2030.5 that steps and rules wait for. */
import type { CsipEvent } from '../../contract/csip-events.ts';
import { csipEventText } from '../file/words.ts';
import type { CsipEventTest } from '../model.ts';
import type { Observation, Observed } from './observed.ts';
import type { ScenarioHost } from './host.ts';

/** States that last: an event that is in one already counts when the wait begins. */
const lasting: readonly CsipEventTest['state'][] = ['scheduled', 'active', 'started'];

/** Events that a condition has counted in a run. Each counts once: a rule runs once for each of them. */
const countedIn = new WeakMap<ScenarioHost, Map<CsipEventTest, Set<string>>>();

function countedBy(test: CsipEventTest, host: ScenarioHost): Set<string> {
  const ofHost = countedIn.get(host) ?? new Map<CsipEventTest, Set<string>>();
  countedIn.set(host, ofHost);
  const counted = ofHost.get(test) ?? new Set<string>();
  ofHost.set(test, counted);
  return counted;
}

const pathOf = (href: string): string => (URL.canParse(href) ? new URL(href).pathname : href);

/** Whether an event is one that a test asks for, whatever its state. */
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

/** Met by the first event that a test asks for; it stays met whatever becomes of the event. */
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
    // the end of one event is asked for by its name: it may have come before
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

  /** Time stops where an event starts or ends, as far as that is on the simulated clock. */
  get due(): number {
    if (this.#met !== null) return Infinity;
    const { csip, plant } = this.#host;
    const dues = csip.events().flatMap((event) => (concerns(this.#test, event) ? event.nextAt : []));
    return Math.min(Infinity, ...dues.filter((due) => due > plant.now));
  }

  seen(): string {
    const words = csipEventText(this.#test);
    if (this.#met !== null) return `${words} came`;
    const known = this.#host.csip.events().map(({ mrid, state }) => `${mrid} is ${state}`);
    const list = known.length === 0 ? 'no event is known' : `known: ${known.slice(0, 5).join(', ')}`;
    return `${words} did not come; ${list}`;
  }

  take(): void {
    if (this.#met !== null) this.#counted.add(this.#met);
  }

  end(): void {
    this.#end();
  }
}
