/** One DERProgramList and everything below it: programs, controls, default controls and curves. */
import type { ListedControl, ListedDefault, ListedProgram, EventStatusNow } from '../events/model.ts';
import type { Received } from '../xml/schema.ts';
import { runWhole } from '../../core/turns.ts';
import type { LoopShare } from '../../core/turns.ts';
import type { DERControl, DERControlBase, DERCurve, DERProgram, DefaultDERControl } from '../xml/documents.ts';
import type { FoundCurve, FoundResource } from './model.ts';
import type { WalkBounds, Holding } from './bounds.ts';
import { failure, missing } from './poll.ts';
import type { Poll, PollResult } from './poll.ts';
import { resolved } from './reader.ts';
import { firstRemarks, remarksOfMissed } from './remarks.ts';
import type { Missed, Remark } from './remarks.ts';
import type { LinkTo, Reader } from './reader.ts';
import type { ResolvedControl } from '../control/model.ts';
import { controlledModes } from '../control/modes.ts';

type Curves = ResolvedControl['curves'];

/** EventStatus.currentStatus, IEEE 2030.5-2018 8.8; a reserved number counts as scheduled. */
const statuses: readonly EventStatusNow[] = [
  'scheduled',
  'active',
  'cancelled',
  'cancelled with randomization',
  'superseded',
];

/** An mRID for comparison: servers write its digits in either case. */
export const sameCase = (mrid: string): string => mrid.toUpperCase();

/** HexBinary as a number. null: invalid. */
function hexNumber(text: string | undefined): number | null {
  return text !== undefined && /^[0-9A-Fa-f]{1,8}$/.test(text) ? Number.parseInt(text, 16) : null;
}

/** The `href` of every curve to which the modes link, as written. */
function curveHrefsOf(base: Received<DERControlBase>): readonly string[] {
  const hrefs = Object.values(base).flatMap((value) =>
    typeof value === 'object' && 'href' in value && typeof value.href === 'string' ? [value.href] : [],
  );
  return [...new Set(hrefs)];
}

/** The curves that one control uses. */
function curvesFor(base: Received<DERControlBase>, curves: Curves): Curves {
  return new Map(curveHrefsOf(base).map((href) => [href, curves.get(href) ?? null]));
}

/** Location of a control. */
interface Place {
  /** URI of the document that contains it */
  readonly url: string;
  /** seconds that the clock of its FSA is ahead of that of the server */
  readonly aheadS: number;
}

/** @returns null for a control without mRID or interval, which can be neither carried out nor answered */
function listedControl(control: Received<DERControl>, curves: Curves, place: Place): ListedControl | null {
  const { mRID, interval, EventStatus: status, replyTo, DERControlBase: base = {} } = control;
  if (mRID === undefined || mRID === '' || interval?.start === undefined || interval.duration === undefined)
    return null;
  const there = (seconds: number) => seconds - place.aheadS;
  return {
    mrid: sameCase(mRID),
    href: control.href === undefined ? null : resolved(control.href, place.url),
    description: control.description ?? null,
    version: control.version ?? null,
    creationS: there(control.creationTime ?? 0),
    aheadS: place.aheadS,
    startS: there(interval.start),
    written: { startS: interval.start, creationS: control.creationTime ?? 0 },
    durationS: interval.duration,
    randomizeStartS: control.randomizeStart ?? 0,
    randomizeDurationS: control.randomizeDuration ?? 0,
    status: statuses[status?.currentStatus ?? 0] ?? 'scheduled',
    statusS: status?.dateTime === undefined ? null : there(status.dateTime),
    potentiallySuperseded: status?.potentiallySuperseded ?? false,
    deviceCategory: hexNumber(control.deviceCategory),
    responseRequired: hexNumber(control.responseRequired) ?? 0,
    replyTo: replyTo === undefined ? null : resolved(replyTo, place.url),
    modes: controlledModes(base),
    control: { base, curves: curvesFor(base, curves) },
  };
}

/** Controls of a list that are looked at in one part. */
const listedAtOnce = 50;

/** All controls of a list, with pauses; null for one that cannot be used. */
function* listedInParts(
  controls: readonly Received<DERControl>[],
  curves: Curves,
  place: Place,
): Generator<undefined, readonly (ListedControl | null)[]> {
  const listed: (ListedControl | null)[] = [];
  for (const control of controls) {
    if (listed.length > 0 && listed.length % listedAtOnce === 0) yield;
    listed.push(listedControl(control, curves, place));
  }
  return listed;
}

function listedDefault(document: Received<DefaultDERControl>, curves: Curves, url: string): ListedDefault {
  const { DERControlBase: base = {} } = document;
  // setES..., setGradW, setSoftGradW
  const settings = Object.fromEntries(Object.entries(document).filter(([name]) => name.startsWith('set')));
  return {
    mrid: document.mRID === undefined ? null : sameCase(document.mRID),
    href: document.href === undefined ? url : resolved(document.href, url),
    description: document.description ?? null,
    modes: controlledModes(base),
    control: { base, curves: curvesFor(base, curves), settings },
  };
}

/** Dependencies that all parts of a walk share. */
export interface WalkParts {
  readonly reader: Reader;
  readonly bounds: WalkBounds;
  /** of the turns of the event loop, for long lists */
  readonly share: LoopShare;
  readonly deviceIndex: number | null;
  readonly makePoll: (read: () => Promise<PollResult>) => Poll;
  /** the effective rate for a pollRate */
  readonly rateOf: (pollRate: number | undefined) => number;
  /** logs a failed reading, and reads the DeviceCapability if there was no answer */
  readonly missed: (what: Missed) => void;
  readonly warn: (message: string) => void;
}

/** A program of the list as last read. */
interface Entry {
  readonly listed: ListedProgram;
  readonly mrid: string | null;
  readonly curves: readonly FoundCurve[];
  readonly resources: readonly FoundResource[];
}

interface ProgramListOptions extends WalkParts {
  readonly link: LinkTo;
  /** absolute URI */
  readonly url: string;
  /** seconds that the clock of its FSA is ahead of that of the server */
  readonly aheadS: () => number;
  /** called when the list is gone, so that its parent is read again */
  readonly lost: () => void;
  /** called after each reading, whether it succeeded or not */
  readonly changed: () => void;
}

/** SubscribableResource.subscribable: 1 and 3 permit subscriptions to the whole resource */
const canSubscribe = (subscribable: number | undefined) => subscribable === 1 || subscribable === 3;

export function foundResource(
  name: FoundResource['name'],
  url: string,
  document: { readonly subscribable?: number | undefined } | null,
): FoundResource {
  return { name, url, subscribable: canSubscribe(document?.subscribable) };
}

export class ProgramListWalk {
  readonly poll: Poll;
  readonly #options: ProgramListOptions;
  #entries: readonly Entry[] = [];
  #list: FoundResource;
  /** by absolute URI; a DERCurve does not change */
  readonly #curves = new Map<string, Received<DERCurve>>();
  /** URLs of curves that the current or last reading used */
  readonly #met = new Set<string>();
  readonly #holding: Holding;
  #stopped = false;
  #tried = false;
  #askedParent = false;
  /** delay that the server asks for below the list (`Retry-After`); undefined: none */
  #askedToWaitMs: number | undefined;

  constructor(options: ProgramListOptions) {
    this.#options = options;
    this.#holding = options.bounds.part();
    this.#list = foundResource('DERProgramList', options.url, null);
    this.poll = options.makePoll(() => this.#read());
  }

  /** true after the first reading, whether it succeeded or not */
  get tried(): boolean {
    return this.#tried;
  }

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  get resources(): readonly FoundResource[] {
    return [this.#list, ...this.#entries.flatMap(({ resources }) => resources)];
  }

  stop(): void {
    this.#stopped = true;
    this.poll.stop();
    this.#holding.close();
  }

  /** Curves will be read again when needed. */
  forgetCurves(): void {
    this.#curves.clear();
  }

  async #read(): Promise<PollResult> {
    this.#holding.begin();
    // curves are not read again
    this.#holding.add(this.#curves.size, 0);
    const result = await this.#readList();
    this.#holding.end(result !== 'failed' && 'rateS' in result);
    if (this.#stopped) this.#holding.close();
    this.#tried = true;
    this.#options.changed();
    return result;
  }

  async #readList(): Promise<PollResult> {
    const { reader, link, deviceIndex, rateOf, missed, lost } = this.#options;
    const read = await reader.list('DERProgramList', link, deviceIndex, this.#holding);
    if (read.kind === 'absent') {
      this.#entries = [];
      if (!this.#askedParent) lost();
      this.#askedParent = true;
      return missing(read, rateOf(undefined));
    }
    if (read.kind !== 'found') {
      missed(read);
      return read.kind === 'failed' ? failure(read) : missing(read, rateOf(undefined));
    }
    this.#askedParent = false;
    this.#askedToWaitMs = undefined;
    const { list, items } = read.value;
    this.#list = foundResource('DERProgramList', this.#options.url, list);
    const before = new Map(this.#entries.map((entry) => [entry.listed.key, entry]));
    this.#met.clear();
    const entries = await Promise.all(items.map((program) => this.#program(program, read.url, before)));
    this.#entries = entries.flatMap(({ entry }) => (entry === null ? [] : [entry]));
    const remarks = firstRemarks([...read.remarks, ...entries.flatMap((each) => each.remarks)]);
    if (!entries.every(({ complete }) => complete)) return { retryAfterMs: this.#askedToWaitMs, remarks };
    for (const url of this.#curves.keys()) if (!this.#met.has(url)) this.#curves.delete(url);
    return { rateS: rateOf(list.pollRate), remarks };
  }

  async #program(
    program: Received<DERProgram>,
    base: string,
    before: ReadonlyMap<string, Entry>,
  ): Promise<{ readonly entry: Entry | null; readonly complete: boolean; readonly remarks: readonly Remark[] }> {
    const { warn } = this.#options;
    const url = program.href === undefined ? null : resolved(program.href, base);
    const mrid = program.mRID === undefined || program.mRID === '' ? null : sameCase(program.mRID);
    const key = mrid ?? url;
    if (key === null || url === null || program.primacy === undefined) {
      warn(`a DERProgram without href, mRID or primacy is left out (${base})`);
      return { entry: null, complete: true, remarks: [leftOutRemark(program, url, base)] };
    }
    const old = before.get(key);
    const [defaults, controls] = await Promise.all([
      this.#default(program, base, old?.listed.defaultControl),
      this.#controls(program, base, old?.listed),
    ]);
    const listed: ListedProgram = {
      key,
      href: url,
      description: program.description ?? null,
      primacy: program.primacy,
      defaultControl: defaults.value,
      controls: controls.value,
      isPartial: controls.isPartial,
      controlsReadMs: controls.readMs,
    };
    const used = [...(controls.value ?? []), ...(defaults.value ? [defaults.value] : [])];
    const curves = await this.#inParts(used.length, usedCurves(used, base));
    const resources = [foundResource('DERProgram', url, program), ...defaults.resources, ...controls.resources];
    return {
      entry: { listed, mrid, curves, resources },
      complete: defaults.complete && controls.complete,
      remarks: [...defaults.remarks, ...controls.remarks],
    };
  }

  /** @param old stays in force until the resource is readable again */
  async #default(program: Received<DERProgram>, base: string, old: ListedDefault | null | undefined) {
    const href = program.DefaultDERControlLink?.href;
    if (href === undefined) return part(null, { remarks: emptyLinks(program, 'DefaultDERControlLink', base) });
    const { reader, deviceIndex } = this.#options;
    const read = await reader.document('DefaultDERControl', { href, base }, deviceIndex, this.#holding);
    // 404: the program has no default control
    if (read.kind === 'absent') return part(null);
    if (read.kind !== 'found') return this.#kept(read, old);
    const resolution = await this.#resolve([read.value.DERControlBase ?? {}], read.url);
    const resource = foundResource('DefaultDERControl', resolved(href, base) ?? read.url, read.value);
    return part(listedDefault(read.value, resolution.curves, read.url), {
      resources: [resource],
      complete: resolution.complete,
      remarks: [...read.remarks, ...resolution.remarks],
    });
  }

  async #controls(program: Received<DERProgram>, base: string, old: ListedProgram | undefined) {
    const href = program.DERControlListLink?.href;
    if (href === undefined)
      return part([], { isPartial: true, remarks: emptyLinks(program, 'DERControlListLink', base) });
    const { reader, deviceIndex, aheadS, warn } = this.#options;
    const read = await reader.list('DERControlList', { href, base }, deviceIndex, this.#holding);
    if (read.kind === 'absent') return part([], { isPartial: true, remarks: remarksOfMissed(read) });
    if (read.kind !== 'found') return { ...this.#kept(read, old?.controls), readMs: old?.controlsReadMs ?? null };
    const { items, list } = read.value;
    const resolution = await this.#resolve(
      items.map(({ DERControlBase: controlBase = {} }) => controlBase),
      read.url,
    );
    const place = { url: read.url, aheadS: aheadS() };
    const listed = await this.#inParts(items.length, listedInParts(items, resolution.curves, place));
    const usable = listed.filter((each) => each !== null);
    if (usable.length < listed.length) warn(`DERControls without mRID or interval are left out (${read.url})`);
    const resource = foundResource('DERControlList', resolved(href, base) ?? read.url, list);
    const unusable = items.flatMap((item, at) => (listed[at] === null ? [unusableRemark(item, at, read.url)] : []));
    return part(usable, {
      readMs: read.middleMonotonicMs,
      resources: [resource],
      isPartial: usable.length < items.length || !read.value.isWhole,
      complete: resolution.complete,
      remarks: [...read.remarks, ...firstRemarks(unusable), ...resolution.remarks],
    });
  }

  /** Does work on controls, with pauses if they are more than one part has. */
  #inParts<T>(controls: number, work: Generator<undefined, T>): T | Promise<T> {
    return controls <= listedAtOnce ? runWhole(work) : this.#options.share.runInParts(work);
  }

  #kept<T>(read: Missed, old: T) {
    return part(old, { complete: this.#stands(read), remarks: remarksOfMissed(read) });
  }

  /** Takes note of a failed reading and its `Retry-After`. @returns true if a repetition would not help */
  #stands(read: Missed): boolean {
    this.#options.missed(read);
    if (read.retryAfterMs !== undefined) this.#askedToWaitMs = Math.max(read.retryAfterMs, this.#askedToWaitMs ?? 0);
    return read.kind !== 'failed';
  }

  /** The curves of these modes by `href` as written; cached ones are not read again. */
  async #resolve(
    bases: readonly Received<DERControlBase>[],
    base: string,
  ): Promise<{ readonly curves: Curves; readonly complete: boolean; readonly remarks: readonly Remark[] }> {
    const { reader, deviceIndex } = this.#options;
    const curves = new Map<string, Received<DERCurve> | null>();
    const remarks: Remark[] = [];
    let complete = true;
    const hrefs = [...new Set(bases.flatMap(curveHrefsOf))];
    await Promise.all(
      hrefs.map(async (href) => {
        const url = resolved(href, base) ?? href;
        this.#met.add(url);
        const curve = this.#curves.get(url);
        if (curve !== undefined) {
          curves.set(href, curve);
          return;
        }
        const read = await reader.document('DERCurve', { href, base }, deviceIndex, this.#holding);
        if (read.kind === 'found') this.#curves.set(url, read.value);
        else complete = this.#stands(read) && complete;
        remarks.push(...(read.kind === 'found' ? read.remarks : remarksOfMissed(read)));
        curves.set(href, read.kind === 'found' ? read.value : null);
      }),
    );
    return { curves, complete, remarks: firstRemarks(remarks) };
  }
}

interface PartFacts {
  readonly resources: readonly FoundResource[];
  readonly complete: boolean;
  /** true: a part of a list */
  readonly isPartial: boolean;
  /** when a list was read, on `WallClock.monotonicMs`; null: it was not */
  readonly readMs: number | null;
  readonly remarks: readonly Remark[];
}

function part<T>(value: T, facts: Partial<PartFacts> = {}): PartFacts & { readonly value: T } {
  return { resources: [], complete: true, isPartial: false, readMs: null, remarks: [], ...facts, value };
}

/** The remark about a link of a program that has no usable `href`; empty: the program has no such link. */
function emptyLinks(
  program: Received<DERProgram>,
  name: 'DefaultDERControlLink' | 'DERControlListLink',
  base: string,
): readonly Remark[] {
  if (program[name] === undefined) return [];
  const message = `the ${name} of the DERProgram ${program.href ?? program.mRID} has no usable href (${base})`;
  return [{ code: 'link-without-href', message }];
}

const inWords = (names: readonly string[]): string => names.join(' and ');

function leftOutRemark({ mRID, primacy, href }: Received<DERProgram>, url: string | null, base: string): Remark {
  const lacks = [...(url === null ? ['usable href'] : []), ...(primacy === undefined ? ['readable primacy'] : [])];
  const name = href ?? mRID ?? 'without a name';
  return {
    code: 'program-left-out',
    message: `the DERProgram ${name} has no ${inWords(lacks)}, and is left out (${base})`,
  };
}

function unusableRemark({ mRID, interval, href }: Received<DERControl>, at: number, base: string): Remark {
  const lacks = [
    ...(mRID === undefined || mRID === '' ? ['readable mRID'] : []),
    ...(interval?.start === undefined || interval.duration === undefined ? ['readable interval'] : []),
  ];
  const name = href ?? mRID ?? `at ${at} of its list`;
  return {
    code: 'control-left-out',
    message: `the DERControl ${name} has no ${inWords(lacks)}, and is left out without a response (${base})`,
  };
}

function* usedCurves(
  controls: readonly (ListedControl | ListedDefault)[],
  base: string,
): Generator<undefined, readonly FoundCurve[]> {
  const curves = new Map<string, FoundCurve>();
  let links = 0;
  for (const { href: at, control } of controls)
    for (const [href, document] of control.curves) {
      if (++links % listedAtOnce === 0) yield;
      const url = resolved(href, at ?? base) ?? href;
      if (document !== null) curves.set(url, { url, document });
    }
  return [...curves.values()];
}
