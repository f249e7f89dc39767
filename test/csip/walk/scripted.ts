/** A server as a table of resources, for walks without a network, on a clock that the test moves. */
import { SimError } from '../../../src/core/errors.ts';
import { createRandom } from '../../../src/core/random.ts';
import type { SimTime } from '../../../src/core/time/clock.ts';
import type { Logger } from '../../../src/core/log/log.ts';
import { remoteClocks } from '../../../src/core/time/remote-clock.ts';
import type { RemoteClock } from '../../../src/core/time/remote-clock.ts';
import type { ListedControl } from '../../../src/csip/events/model.ts';
import type { SepAnswer, SepExchange, SepRequest } from '../../../src/csip/transport/exchange.ts';
import type {
  EndDeviceFacts,
  FoundProgram,
  WalkConduct,
  WalkOptions,
  WalkStage,
  WalkTarget,
} from '../../../src/csip/walk/model.ts';
import { Walk } from '../../../src/csip/walk/walk.ts';
import type { ReceivedDocument } from '../../../src/csip/xml/schema.ts';
import { HandTimers } from '../../support/timers.ts';
import { HandWall } from '../../support/wall.ts';

export const lfdi = '3E4F45AB31EDFE5B67E343E5E4562E31984E23E5';
export const sfdi = 167261211391;
export const target: WalkTarget = { lfdi, sfdi, deviceIndex: 0, deviceCategory: 0x20_0000, derCount: () => 1 };

/** A document, a status without one, or the end of the connection. */
export type Scripted = ReceivedDocument | number | 'cut';
/** Called for each request; the page asked for stands in `query`. */
export type Script = Scripted | ((request: SepRequest, query: URLSearchParams) => Scripted);

/** Lets all promises that are waiting go on. */
export const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 200; turn++) await Promise.resolve();
};

/** Pages of a list as servers make them. */
export function paged(
  name: 'EndDeviceList' | 'DERProgramList' | 'DERControlList',
  item: string,
  items: readonly object[],
  atMost = 255,
  members: object = {},
): Script {
  return (_request, query) => {
    const start = Number(query.get('s') ?? 0);
    const page = items.slice(start, start + Math.min(Number(query.get('l') ?? 1), atMost));
    return { name, value: { all: items.length, results: page.length, [item]: page, ...members } };
  };
}

export class ScriptedServer implements SepExchange {
  readonly origin = 'https://head-end';
  readonly negotiated = null;
  readonly wall = new HandWall();
  readonly timers = new HandTimers(this.wall);
  /** by path */
  readonly resources = new Map<string, Script>();
  readonly requests: (SepRequest & { readonly atMs: number; readonly path: string })[] = [];
  /** seconds by which its time is ahead of the wall */
  aheadS = 0;
  cut = false;
  /** with every answer that has no document */
  retryAfterMs: number | null = null;

  constructor() {
    this.resources.set('/dcap', {
      name: 'DeviceCapability',
      value: { pollRate: 900, TimeLink: { href: '/tm' }, EndDeviceListLink: { href: '/edev', all: 0 } },
    });
    this.resources.set('/tm', () => ({
      name: 'Time',
      value: { currentTime: Math.floor(this.wall.nowMs() / 1000) + this.aheadS, quality: 7, pollRate: 300 },
    }));
    this.endDevice();
    this.resources.set('/edev/1/fsa', this.groups(['/edev/1/fsa/1/derp']));
    this.programs('/edev/1/fsa/1/derp', [{ path: '/derp/1', primacy: 1 }]);
  }

  /** The list with the own EndDevice and another one. */
  endDevice(members: object = {}): void {
    const own = {
      href: '/edev/1',
      lFDI: lfdi.toLowerCase(),
      sFDI: sfdi,
      FunctionSetAssignmentsListLink: { href: '/edev/1/fsa', all: 1 },
      ...members,
    };
    const other = { href: '/edev/0', lFDI: '00'.repeat(20), sFDI: 9 };
    this.resources.set('/edev', paged('EndDeviceList', 'EndDevice', [other, own], 1, { pollRate: 900 }));
  }

  groups(lists: readonly string[], members: object = {}, pollRate = 900): ReceivedDocument {
    const items = lists.map((href, at) => ({
      href: `/edev/1/fsa/${at + 1}`,
      mRID: `F${at}`,
      DERProgramListLink: { href, all: 1 },
      ...members,
    }));
    return {
      name: 'FunctionSetAssignmentsList',
      value: { all: items.length, results: items.length, pollRate, FunctionSetAssignments: items },
    };
  }

  programs(
    list: string,
    programs: readonly { readonly path: string; readonly primacy: number }[],
    pollRate = 60,
  ): void {
    const items = programs.map(({ path, primacy }) => ({
      href: path,
      mRID: `0a${path.replace(/\D/g, '')}`,
      primacy,
      DefaultDERControlLink: { href: `${path}/dderc` },
      DERControlListLink: { href: `${path}/derc`, all: 0 },
    }));
    this.resources.set(list, paged('DERProgramList', 'DERProgram', items, 255, { pollRate }));
    for (const { path } of programs) if (!this.resources.has(`${path}/derc`)) this.controls(path, []);
  }

  controls(program: string, controls: readonly object[], atMost = 255): void {
    this.resources.set(`${program}/derc`, paged('DERControlList', 'DERControl', controls, atMost));
  }

  request(request: SepRequest): Promise<SepAnswer> {
    const url = new URL(request.href, new URL(request.base ?? '/', this.origin));
    this.requests.push({ ...request, atMs: this.wall.monotonicMs(), path: url.pathname });
    const script = this.resources.get(url.pathname) ?? 404;
    const made = this.cut ? 'cut' : typeof script === 'function' ? script(request, url.searchParams) : script;
    if (made === 'cut') return Promise.reject(new SimError('PEER_ERROR', 'the connection was cut'));
    return Promise.resolve({
      status: typeof made === 'number' ? made : 200,
      url: url.origin + url.pathname,
      location: null,
      document: typeof made === 'number' ? null : made,
      middleMonotonicMs: this.wall.monotonicMs(),
      ...(typeof made === 'number' && this.retryAfterMs !== null && { retryAfterMs: this.retryAfterMs }),
    });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** Paths that were asked for with GET since the last call. */
  asked(): readonly string[] {
    const paths = this.requests.filter(({ method }) => method === 'GET').map(({ path }) => path);
    this.requests.length = 0;
    return paths;
  }

  /** Instants of the requests for a path, s since the first of them. */
  instants(path: string): readonly number[] {
    const times = this.requests.filter((request) => request.path === path).map(({ atMs }) => atMs / 1000);
    return times.map((time) => time - (times[0] ?? 0));
  }

  /** Time passes in steps, so that answers come in between. */
  async pass(seconds: number, stepS = 1): Promise<void> {
    for (let left = seconds; left > 0; left -= stepS) {
      this.timers.pass(Math.min(stepS, left) * 1000);
      await settled();
    }
  }
}

/** The clock of the server, on the wall that the test moves. */
export function remoteClock({ wall, timers }: ScriptedServer, log: Pick<Logger, 'warning' | 'error'>): RemoteClock {
  const timeline = {
    sim: () => 0 as SimTime,
    dateMs: () => wall.nowMs(),
    rate: () => 1,
    paused: () => false,
    at: () => () => undefined,
  };
  return remoteClocks({ mode: 'wall', wall, later: timers.later, timeline, log })(log);
}

/** A walk through a scripted server, and what it has told. */
export class WalkRig {
  readonly server = new ScriptedServer();
  readonly warnings: string[] = [];
  readonly stages: WalkStage[] = [];
  readonly facts: (EndDeviceFacts | null)[] = [];
  readonly programs: (readonly FoundProgram[])[] = [];
  readonly refusals: string[] = [];
  readonly contacts: ('contact' | 'none')[] = [];
  readonly conduct: { -readonly [Name in keyof WalkConduct]: WalkConduct[Name] } = {
    dcap: '/dcap',
    pin: null,
    withoutRegistration: 'continue',
    register: false,
    pollRateS: null,
    useServerTime: true,
    timeStaleS: 86_400,
  };
  readonly posted = new Set<string>();
  readonly remoteClock;
  readonly walk: Walk;

  /** @param more options in place of the usual ones */
  constructor(more: Partial<WalkOptions> = {}) {
    const { wall, timers } = this.server;
    const log = {
      debug: () => undefined,
      info: () => undefined,
      warning: (message: string) => void this.warnings.push(message),
      error: (message: string) => void this.warnings.push(message),
    };
    this.remoteClock = remoteClock(this.server, log);
    this.walk = new Walk({
      exchange: this.server,
      ownLfdi: lfdi,
      targets: [target],
      conduct: this.conduct,
      registrations: {
        begin: ({ lfdi: key }) => !this.posted.has(key) && this.posted.add(key).has(key),
        failed: ({ lfdi: key }) => void this.posted.delete(key),
      },
      clock: wall,
      later: timers.later,
      jitter: createRandom(7, 'walk'),
      remoteClock: this.remoteClock,
      log,
      listener: {
        contact: () => void this.contacts.push('contact'),
        noContact: () => void this.contacts.push('none'),
        stage: (stage) => void this.stages.push(stage),
        endDevice: (_target, facts) => void this.facts.push(facts),
        programs: (_target, programs) => void this.programs.push(programs),
        refused: (_target, reason) => void this.refusals.push(reason),
      },
      ...more,
    });
  }

  /** the first of the programs told last */
  get program(): FoundProgram {
    const first = this.programs.at(-1)?.[0];
    if (first === undefined) throw new Error('no program was told');
    return first;
  }

  /** controls of it that were read */
  get controls(): readonly ListedControl[] {
    return this.program.listed.controls ?? [];
  }

  /** programs told last */
  get last(): readonly FoundProgram[] {
    return this.programs.at(-1) ?? [];
  }

  async start(): Promise<this> {
    await this.walk.start();
    return this;
  }
}

/** A DERControl as servers list it. */
export function control(mRID: string, members: object = {}): object {
  return {
    href: `/c/${mRID}`,
    mRID,
    creationTime: 1000,
    EventStatus: { currentStatus: 0, dateTime: 1000, potentiallySuperseded: false },
    interval: { start: 2000, duration: 600 },
    DERControlBase: { opModMaxLimW: 5000 },
    replyTo: '/rsp/1',
    responseRequired: '03',
    ...members,
  };
}
