/** Runs one procedure of the test definitions with the whole simulator at a head-end of the tests. */
import type { HeadEnd } from '../../csip/head-end/head-end.ts';
import type { Control, Program, Recorded } from '../../csip/head-end/model.ts';
import { Site } from '../../csip/whole/site.ts';
import { act, supportsAction } from './actions.ts';
import type { Acting } from './actions.ts';
import { check, lastDocument, numberOf, pen, supportsCheck } from './checks.ts';
import type { Checked } from './checks.ts';
import type { Procedure, Step, Typed } from './definitions.ts';
import { resolved } from './expression.ts';
import type { Names } from './expression.ts';

export interface Outcome {
  readonly id: string;
  readonly result: 'passed' | 'failed' | 'not supported';
  /** what went wrong */
  readonly reasons: readonly string[];
  /** steps and checks that this runner cannot carry out, by name; they are left out */
  readonly unsupported: readonly string[];
  /** what the definitions ask of a person */
  readonly byHand: readonly string[];
  /** of CSIP-AUS, as the client was told */
  readonly ausVersion: '1.2' | '1.3';
  /** rules that the head-end has broken, at the end of the run */
  readonly findings: readonly string[];
  /** every request of the client */
  readonly requests: readonly Recorded[];
}

/** The pages where definitions know the aggregator, which is any EndDevice here. */
const pathOf = (endpoint: string): RegExp =>
  new RegExp(`^${endpoint.replace('/edev/0/', '/edev/*/').replaceAll('*', '[^/]+')}$`);

/** What a person is to do with the switch of the devices: the instructions that this runner follows. */
function switchOf(instruction: string): boolean | undefined {
  if (/^(Disconnect all DER|Stop DER)/.test(instruction)) return false;
  return /^(Reconnect all DER|Re-enable ability of DER)/.test(instruction) ? true : undefined;
}

/** From the fulfilled preconditions to the start of the procedure, s: half of the shortest rate of polls. */
const startS = 30;

/** Procedures that wait for documents which a client writes at its start: a person starts it again. */
const writesAtStart: ReadonlySet<string> = new Set(['STO-05']);

/** Longest that a run may take beyond its waits, seconds of the head-end. */
const patienceS = 2400;

/** Time that a step takes by itself, s. A person lets the client proceed at the end of the time for it. */
function waitS({ type, parameters = {} }: Typed): number {
  if (type === 'wait') return Number(parameters['duration_seconds']);
  return type === 'proceed' ? Number(parameters['timeout_seconds'] ?? 0) : 0;
}

class Run {
  readonly #procedure: Procedure;
  readonly #steps: Map<string, Step>;
  readonly #enabled = new Map<string, number>();
  readonly #tags = new Map<string, Control>();
  #site: Site | null = null;
  #acting: Acting | null = null;
  #finished = false;
  #failure: string | null = null;
  #counts = false;

  constructor(procedure: Procedure) {
    this.#procedure = procedure;
    this.#steps = new Map(Object.entries(procedure.Steps));
  }

  async run(): Promise<Outcome> {
    const { Preconditions = {}, Criteria } = this.#procedure;
    const unsupported = unsupportedOf(this.#procedure);
    const reasons: string[] = [];
    let findings: readonly string[] = [];
    const site = await Site.open({ ...optionsOf(this.#procedure), startsLater: true });
    this.#site = site;
    this.#acting = this.#actingOf(site);
    site.headEnd.observer = {
      before: (recorded) => this.#requested(recorded, false),
      after: (recorded) => this.#requested(recorded, true),
    };
    try {
      this.#act(Preconditions.init_actions);
      if (Preconditions.immediate_start === true) this.#begin();
      await site.start();
      await prepareDevices(site, this.#procedure);
      if (Preconditions.immediate_start !== true) {
        await this.#until(600, () => this.#wrong(Preconditions.checks).length === 0);
        // a person starts it at some time between two polls
        await site.advance(startS);
        if (writesAtStart.has(this.#procedure.id)) await site.stop();
        reasons.push(...this.#wrong(Preconditions.checks).map((wrong) => `before: ${wrong}`));
        this.#begin();
        if (writesAtStart.has(this.#procedure.id)) await site.start();
      }
      await this.#until(this.#limitS(), () => this.#finished || this.#steps.size === 0);
      // a person ends the procedure when its last control is over
      if (!this.#finished) await this.#until(3600, () => this.#over());
      reasons.push(...this.#wrong(Criteria?.checks));
      if (this.#failure !== null) reasons.push(this.#failure);
      findings = await site.findings();
    } catch (error) {
      reasons.push((error as Error).message.split('\n')[0] ?? '');
    } finally {
      await site.close();
    }
    const { id } = this.#procedure;
    const result = reasons.length === 0 ? 'passed' : 'failed';
    const { requests } = site.headEnd;
    return {
      id,
      result: unsupported.length > 0 ? 'not supported' : result,
      reasons,
      unsupported,
      byHand: byHandOf(this.#procedure),
      ausVersion: ausVersionOf(this.#procedure.Classes),
      findings,
      requests,
    };
  }

  get #headEnd(): HeadEnd {
    if (this.#site === null) throw new Error('the run has not begun');
    return this.#site.headEnd;
  }

  #actingOf(site: Site): Acting {
    const { headEnd, lfdis } = site;
    return {
      headEnd,
      tags: this.#tags,
      programTags: new Map<string, Program>(),
      lfdi: lfdis[0] ?? '',
      value: (value) => resolved(value, namesOf(headEnd)),
      restore: null,
    };
  }

  /** Everything from now on counts for the procedure. */
  #begin(): void {
    this.#counts = true;
    const [first] = this.#steps.keys();
    if (first !== undefined) this.#enable(first);
    this.#act(this.#procedure.Preconditions?.actions);
  }

  #enable(name: string): void {
    const step = this.#steps.get(name);
    if (step === undefined || this.#enabled.has(name)) return;
    this.#enabled.set(name, this.#headEnd.nowS);
    const closed = step.instructions?.map(switchOf).find((known) => known !== undefined);
    if (closed === undefined) return;
    for (const device of this.#site?.app.plant.devices ?? []) {
      device.command({ kind: 'switch', closed }, { source: 'rest', peer: 'person' });
    }
  }

  #act(list: readonly Typed[] = []): void {
    for (const action of list) {
      const { type, parameters = {} } = action;
      const steps = (parameters['steps'] ?? []) as readonly string[];
      if (type === 'enable-steps') for (const name of steps) this.#enable(name);
      else if (type === 'remove-steps') {
        for (const name of steps) {
          this.#steps.delete(name);
          this.#enabled.delete(name);
        }
      } else if (type === 'finish-test') {
        this.#finished = true;
        if (typeof parameters['fail_message'] === 'string') this.#failure = parameters['fail_message'].trim();
      } else if (this.#acting !== null) act(this.#acting, action);
    }
  }

  #checked(): Checked {
    const names = namesOf(this.#headEnd);
    return { headEnd: this.#headEnd, tags: this.#tags, unfinished: () => [...this.#steps.keys()], names };
  }

  #wrong(list: readonly Typed[] = []): string[] {
    const checked = this.#checked();
    return list.filter(supportsCheck).flatMap((each) => check(checked, each) ?? []);
  }

  #requested({ method, path, query }: Recorded, served: boolean): void {
    // further pages of a list are the same request
    if (!this.#counts || this.#finished || /[?&]s=[1-9]/.test(query)) return;
    for (const [name, { event, actions }] of this.#steps) {
      if (!this.#enabled.has(name)) continue;
      if (event.type !== `${method}-request-received`) continue;
      const { endpoint, serve_request_first: after = false } = event.parameters ?? {};
      if (after !== served || !pathOf(String(endpoint)).test(path) || this.#wrong(event.checks).length > 0) continue;
      this.#act(actions);
      return;
    }
  }

  /** Steps that wait, and those that a person would let proceed. */
  #waited(): void {
    for (const [name, sinceS] of this.#enabled) {
      const { event, actions } = this.#steps.get(name) ?? {};
      if (event?.type !== 'proceed' && event?.type !== 'wait') continue;
      if (this.#headEnd.nowS - sinceS < waitS(event) || this.#wrong(event.checks).length > 0) continue;
      this.#act(actions);
    }
  }

  #limitS(): number {
    return Object.values(this.#procedure.Steps).reduce((sum, { event }) => sum + waitS(event), patienceS);
  }

  #over(): boolean {
    const { nowS, programs } = this.#headEnd;
    const ends = programs.flatMap(({ controls }) => controls.map(({ startS, durationS }) => startS + durationS));
    return nowS > Math.max(0, ...ends) + 5;
  }

  async #until(limitS: number, done: () => boolean): Promise<void> {
    const site = this.#site;
    // the longest procedure takes three days with polls each hour
    const stepS = limitS > 100_000 ? 20 : 1;
    for (let passedS = 0; passedS < limitS && !done(); passedS += stepS) {
      await site?.advance(stepS, stepS);
      if (this.#counts && !this.#finished) this.#waited();
    }
  }
}

/** Names of the definitions, from the last documents of the client. */
function namesOf(headEnd: HeadEnd): Names {
  const { nowS } = headEnd;
  const dayS = 86_400;
  const eastS = 36_000;
  return (name) => {
    if (name === 'now') return nowS;
    if (name === 'now_hour') return nowS - (nowS % 3600);
    if (name === 'now_day') return nowS - ((nowS + eastS) % dayS);
    const settings = lastDocument(headEnd, '/derg');
    const capability = lastDocument(headEnd, '/dercap');
    if (name === 'maxExportW') return numberOf(settings, 'setMaxDischargeRateW') ?? numberOf(settings, 'setMaxW');
    if (name === 'maxImportW') return numberOf(settings, 'setMaxChargeRateW') ?? numberOf(settings, 'setMaxW');
    return numberOf(name.startsWith('rtg') ? capability : settings, name);
  };
}

const ausVersionOf = (classes: readonly string[]): '1.2' | '1.3' =>
  classes.some((name) => /STO/.test(name)) ? '1.3' : '1.2';

function optionsOf({ Classes, id }: Procedure): Parameters<typeof Site.open>[0] & object {
  const has = (wanted: RegExp) => Classes.some((name) => wanted.test(name));
  const storage = has(/STO|^L$|^DER-L|^S-L|^M$/);
  const flags = ['--csip_register', 'yes', '--csip_aus', ausVersionOf(Classes), '--csip_nmi', '6203832652'];
  if (/^ALL-0[1-4]/.test(id)) flags.push('--csip_pin', '111115');
  const subscribes = has(/^S-/);
  const aggregator = subscribes || /^P-01/.test(id);
  return {
    types: [
      /^P-01/.test(id) ? 'PV-3Phase' : storage ? 'Batt-3Phase' : 'PV-3Phase',
      ...(/^P-01/.test(id) ? ['PV-3Phase'] : []),
    ],
    aggregator,
    flags: [
      ...flags,
      '--csip_readings_site',
      'yes',
      '--csip_superseded_response',
      'at_discovery',
      ...(subscribes ? ['--csip_subscribe', 'yes'] : []),
      // an aggregator of a site has it anyway
      ...(aggregator ? [] : ['--csip_pen', String(pen)]),
    ],
    prepare: (headEnd) => {
      headEnd.inBandPin = 111_115;
      headEnd.subscribable = true;
      headEnd.notifies = subscribes;
    },
  };
}

/** The delay before service of AS/NZS 4777.2, and power in the direction that a procedure of loads wants. */
async function prepareDevices(site: Site, { Classes }: Procedure): Promise<void> {
  for (const { index } of site.app.plant.devices) {
    await site.post(`registers/703?device=${index}`, { points: { ESDlyTms: 60 } });
  }
  if (!Classes.some((name) => /^L$|^DER-L|^S-L/.test(name))) return;
  await site.post('registers/704', { points: { WSetEna: 1, WSetMod: 0, WSetPct: -80 } });
}

function unsupportedOf({ Steps, Preconditions = {}, Criteria }: Procedure): string[] {
  const found = new Set<string>();
  const see = (where: string, actions: readonly Typed[] = [], checks: readonly Typed[] = []) => {
    for (const action of actions) if (!supportsAction(action)) found.add(`${where}: ${action.type}`);
    for (const each of checks) if (!supportsCheck(each)) found.add(`${where}: ${each.type}`);
  };
  see('Preconditions', [...(Preconditions.init_actions ?? []), ...(Preconditions.actions ?? [])], Preconditions.checks);
  see('Criteria', [], Criteria?.checks);
  for (const [name, { event, actions }] of Object.entries(Steps)) see(name, actions, event.checks);
  return [...found];
}

const byHandOf = ({ Steps, Preconditions }: Procedure): string[] => [
  ...(Preconditions?.instructions ?? []),
  ...Object.values(Steps).flatMap(({ instructions = [] }) =>
    instructions.filter((text) => switchOf(text) === undefined),
  ),
];

export const runProcedure = (procedure: Procedure): Promise<Outcome> => new Run(procedure).run();
export { unsupportedOf };
