/** The answers of a head-end by method and path. */
import { parsed } from './bodies.ts';
import type { HeadEnd } from './head-end.ts';
import type { Control, EndDevice, Fsa, Program, Recorded } from './model.ts';
import * as pages from './pages.ts';
import { keepMirror, keepReadings, keepResponse, mirrorPage, responsePage } from './received.ts';

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** the root element of a document, without namespaces */
  readonly root?: string;
  /** a whole body */
  readonly text?: string;
}

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** of the client's certificate; null over plain HTTP */
  readonly lfdi: string | null;
  readonly body: string;
  readonly root: string | null;
  readonly recorded?: Recorded;
}

type Handler = (headEnd: HeadEnd, asked: Asked, ids: readonly string[]) => Answer;

const notFound: Answer = { status: 404 };
const found = (root: string): Answer => ({ status: 200, root });

const mirrorsOf = ({ mirrors }: HeadEnd, lfdi: string | null) =>
  mirrors.filter(({ owner }) => lfdi === null || owner === lfdi);

/** In the order of the standard: the latest change first, then by SFDI. */
const seenBy = (headEnd: HeadEnd, lfdi: string | null): EndDevice[] =>
  headEnd.endDevices
    .filter(({ owner, lfdi: own }) => lfdi === null || owner === lfdi || own === lfdi)
    .sort((a, b) => b.changedS - a.changedS || a.sfdi - b.sfdi);

const deviceOf = (headEnd: HeadEnd, { lfdi }: Asked, id: string | undefined): EndDevice | undefined =>
  seenBy(headEnd, lfdi).find((device) => device.id === Number(id));

export const fsasOf = (headEnd: HeadEnd, device: EndDevice): Fsa[] =>
  headEnd.fsas.filter(({ id }) => device.fsas?.has(id) ?? true);

export const programsOf = (headEnd: HeadEnd, device: EndDevice, fsa?: Fsa): Program[] => {
  const fsas = new Set(fsa === undefined ? fsasOf(headEnd, device).map(({ id }) => id) : [fsa.id]);
  return headEnd.programs
    .filter(({ fsaId, endDevices }) => fsas.has(fsaId) && (endDevices?.has(device.id) ?? true))
    .sort((a, b) => a.primacy - b.primacy);
};

export function listedControls(headEnd: HeadEnd, { controls }: Program): Control[] {
  const { nowS, keepsEnded } = headEnd;
  // one that randomizes may run longer than its interval says
  const ends = (known: Control) => known.startS + known.durationS + 3600 * Number(known.randomizeStartS !== undefined);
  return controls
    .filter((known) => keepsEnded || ends(known) > nowS)
    .sort((a, b) => a.startS - b.startS || b.creationS - a.creationS);
}

/** A handler below an EndDevice; 404 for one that the client may not see. */
const ofDevice =
  (act: (headEnd: HeadEnd, device: EndDevice, asked: Asked, ids: readonly string[]) => Answer): Handler =>
  (headEnd, asked, ids) => {
    const device = deviceOf(headEnd, asked, ids[0]);
    return device === undefined ? notFound : act(headEnd, device, asked, ids.slice(1));
  };

const ofProgram = (
  act: (headEnd: HeadEnd, program: Program, at: string, asked: Asked, id?: string) => Answer,
): Handler =>
  ofDevice((headEnd, device, asked, [id, item]) => {
    const program = programsOf(headEnd, device).find((known) => known.id === Number(id));
    return program === undefined ? notFound : act(headEnd, program, `/edev/${device.id}/derp/${id}`, asked, item);
  });

const flag = ({ subscribable }: HeadEnd): number => Number(subscribable);

const getEndDevice = (headEnd: HeadEnd, device: EndDevice): string => {
  const counts = {
    ders: device.ders.length,
    fsas: fsasOf(headEnd, device).length,
    subscriptions: headEnd.subscriptions.filter(({ href }) => href.startsWith(`/edev/${device.id}/`)).length,
    logEvents: device.logEvents.length,
  };
  return pages.endDevice(device, counts, headEnd.rates, flag(headEnd));
};

const replyTo = (at: string): string => `${at.slice(0, at.indexOf('/derp/'))}/rsps/site_control/rsp`;
const controlPage = (headEnd: HeadEnd, at: string, known: Control): string =>
  pages.control(at, known, headEnd.nowS, replyTo(at), flag(headEnd));

/** A document that the client writes and reads again. */
const written = (name: string): { readonly GET: Handler; readonly PUT: Handler } => ({
  GET: ofDevice((_, device, { path }) => {
    const kept = device.documents.get(path);
    return kept === undefined ? notFound : { status: 200, text: kept.body };
  }),
  PUT: ofDevice((_, device, { path, root, recorded }) => {
    if (root !== name) return { status: 400, text: pages.errorPage(0) };
    if (recorded !== undefined) device.documents.set(path, recorded);
    return { status: 204 };
  }),
});

function postEndDevice(headEnd: HeadEnd, { body, lfdi }: Asked): Answer {
  if (!headEnd.inBand) return { status: 403 };
  const sent = parsed(body).value as Readonly<Record<string, string>>;
  const own = (sent['lFDI'] ?? '').toUpperCase();
  const known = headEnd.endDevices.find((device) => device.lfdi === own);
  if (known !== undefined) return { status: 409, headers: { Location: `/edev/${known.id}` } };
  const { id } = headEnd.register(own, { pin: headEnd.inBandPin, owner: lfdi ?? own });
  return { status: 201, headers: { Location: `/edev/${id}` } };
}

const subscriptionList: Readonly<Record<string, Handler>> = {
  GET: ofDevice((headEnd, device, { path, query }) => {
    const own = headEnd.subscriptions.filter(({ href }) => href.startsWith(`/edev/${device.id}/`));
    const items = own.map(
      ({ href, resource, notificationUri, level, limit }) =>
        `<Subscription href="${href}"><subscribedResource>${resource}</subscribedResource><encoding>0</encoding>` +
        `<level>${level}</level><limit>${limit}</limit><notificationURI>${notificationUri}</notificationURI></Subscription>`,
    );
    return found(pages.list('SubscriptionList', { href: path }, items, query, headEnd.largestPage));
  }),
  POST: ofDevice((headEnd, device, { body, lfdi }) => {
    const sent = parsed(body).value as Readonly<Record<string, string>>;
    const resource = sent['subscribedResource'] ?? '';
    const notificationUri = sent['notificationURI'] ?? '';
    const same = headEnd.subscriptions.find(
      (known) => known.resource === resource && known.notificationUri === notificationUri && known.owner === lfdi,
    );
    if (same !== undefined) return { status: 204, headers: { Location: same.href } };
    const id = headEnd.newId();
    const href = `/edev/${device.id}/sub/${id}`;
    const { level = '', limit = '0' } = sent;
    headEnd.subscriptions.push({ id, href, resource, notificationUri, level, limit: Number(limit), owner: lfdi });
    return { status: 201, headers: { Location: href } };
  }),
};

function deleteSubscription(headEnd: HeadEnd, { path }: Asked): Answer {
  const at = headEnd.subscriptions.findIndex(({ href }) => href === path);
  if (at < 0) return notFound;
  headEnd.subscriptions.splice(at, 1);
  return { status: 204 };
}

const timePage: Handler = (headEnd, { path }) => {
  const { quality, tzOffsetS, dstOffsetS, dstStartS, dstEndS } = headEnd.clock;
  const currentS = headEnd.nowS + (headEnd.otherTimes.get(path) ?? 0);
  return found(
    pages.time(path, { quality, tzOffsetS, dstOffsetS, dstStartS, dstEndS, currentS, pollRate: headEnd.rates.time }),
  );
};

/** `*` in a path is one part of it. */
const routes: Readonly<Record<string, Readonly<Record<string, Handler>>>> = {
  '/dcap': {
    GET: (headEnd, { lfdi }) =>
      found(pages.deviceCapability(headEnd.rates, seenBy(headEnd, lfdi).length, mirrorsOf(headEnd, lfdi).length)),
  },
  '/tm': { GET: timePage },
  '/edev': {
    GET: (headEnd, { path, query, lfdi }) => {
      const items = seenBy(headEnd, lfdi).map((device) => getEndDevice(headEnd, device));
      const facts = { href: path, pollRate: headEnd.rates.endDevices, subscribable: flag(headEnd) };
      return found(pages.list('EndDeviceList', facts, items, query, headEnd.largestPage));
    },
    POST: postEndDevice,
  },
  '/edev/*': { GET: ofDevice((headEnd, device) => found(getEndDevice(headEnd, device))) },
  '/edev/*/rg': {
    GET: ofDevice((_, { pin, changedS }, { path }) =>
      pin === null ? notFound : found(pages.registration(path, changedS, pin)),
    ),
  },
  '/edev/*/di': written('DeviceInformation'),
  '/edev/*/cp': written('ConnectionPoint'),
  '/edev/*/der': {
    GET: ofDevice((headEnd, device, { path, query }) => {
      const items = device.ders.map((id) => pages.der(`${path}/${id}`));
      const facts = { href: path, pollRate: headEnd.rates.ders };
      return found(pages.list('DERList', facts, items, query, headEnd.largestPage));
    }),
    POST: ofDevice((_, device, { path }) => {
      const id = device.ders.length + 1;
      device.ders.push(id);
      return { status: 201, headers: { Location: `${path}/${id}` } };
    }),
  },
  '/edev/*/der/*': {
    GET: ofDevice((_, device, { path }, [id]) =>
      device.ders.includes(Number(id)) ? found(pages.der(path)) : notFound,
    ),
  },
  '/edev/*/der/*/dercap': written('DERCapability'),
  '/edev/*/der/*/derg': written('DERSettings'),
  '/edev/*/der/*/ders': written('DERStatus'),
  '/edev/*/der/*/dera': written('DERAvailability'),
  '/edev/*/lel': {
    GET: ofDevice((headEnd, device, { path, query }) => {
      const items = device.logEvents.map(({ body }) => body.slice(body.indexOf('<LogEvent')));
      return found(pages.list('LogEventList', { href: path }, items, query, headEnd.largestPage));
    }),
    POST: ofDevice((_, device, { path, root, recorded }) => {
      if (root !== 'LogEvent') return { status: 400, text: pages.errorPage(0) };
      if (recorded !== undefined) device.logEvents.push(recorded);
      return { status: 201, headers: { Location: `${path}/${device.logEvents.length}` } };
    }),
  },
  '/edev/*/sub': subscriptionList,
  '/edev/*/sub/*': { DELETE: deleteSubscription },
  '/edev/*/fsa': {
    GET: ofDevice((headEnd, device, { path, query }) => {
      const items = fsasOf(headEnd, device).map((fsa) =>
        pages.functionSetAssignments(`${path}/${fsa.id}`, fsa, programsOf(headEnd, device, fsa).length, flag(headEnd)),
      );
      const facts = { href: path, pollRate: headEnd.rates.fsas, subscribable: flag(headEnd) };
      return found(pages.list('FunctionSetAssignmentsList', facts, items, query, headEnd.largestPage));
    }),
  },
  '/edev/*/fsa/*': {
    GET: ofDevice((headEnd, device, { path }, [id]) => {
      const fsa = fsasOf(headEnd, device).find((known) => known.id === Number(id));
      if (fsa === undefined) return notFound;
      return found(pages.functionSetAssignments(path, fsa, programsOf(headEnd, device, fsa).length, flag(headEnd)));
    }),
  },
  '/edev/*/fsa/*/derp': {
    GET: ofDevice((headEnd, device, { path, query }, [id]) => {
      const fsa = fsasOf(headEnd, device).find((known) => known.id === Number(id));
      if (fsa === undefined) return notFound;
      const items = programsOf(headEnd, device, fsa).map((program) => {
        const { length } = listedControls(headEnd, program);
        return pages.program(`/edev/${device.id}/derp/${program.id}`, program, length, flag(headEnd));
      });
      const facts = { href: path, pollRate: headEnd.rates.programs, subscribable: flag(headEnd) };
      return found(pages.list('DERProgramList', facts, items, query, headEnd.largestPage));
    }),
  },
  '/edev/*/derp/*': {
    GET: ofProgram((headEnd, program, at) =>
      found(pages.program(at, program, listedControls(headEnd, program).length, flag(headEnd))),
    ),
  },
  '/edev/*/derp/*/derc': {
    GET: ofProgram((headEnd, program, at, { path, query }) => {
      const after = query.get('a');
      const controls = listedControls(headEnd, program).filter(
        ({ startS }) => after === null || startS > Number(after),
      );
      const items = controls.map((known) => controlPage(headEnd, at, known));
      const facts = { href: path, subscribable: flag(headEnd) };
      return found(pages.list('DERControlList', facts, items, query, headEnd.largestPage));
    }),
  },
  '/edev/*/derp/*/derc/*': {
    GET: ofProgram((headEnd, program, at, _, id) => {
      const known = program.controls.find((control) => control.id === Number(id));
      return known === undefined ? notFound : found(controlPage(headEnd, at, known));
    }),
  },
  '/edev/*/derp/*/dderc': {
    GET: ofProgram((headEnd, program, at) =>
      program.default === null ? notFound : found(pages.defaultControl(at, program.default, flag(headEnd))),
    ),
  },
  '/edev/*/derp/*/dc': {
    GET: ofProgram((headEnd, { curves }, at, { path, query }) => {
      const items = curves.map((known) => pages.curve(at, known));
      return found(pages.list('DERCurveList', { href: path }, items, query, headEnd.largestPage));
    }),
  },
  '/edev/*/derp/*/dc/*': {
    GET: ofProgram((_, { curves }, at, __, id) => {
      const known = curves.find((curve) => curve.id === Number(id));
      return known === undefined ? notFound : found(pages.curve(at, known));
    }),
  },
  '/edev/*/rsps/*/rsp': {
    GET: ofDevice((headEnd, _, { path, query }) => {
      const items = headEnd.responses.map(responsePage).reverse();
      return found(pages.list('ResponseList', { href: path }, items, query, headEnd.largestPage));
    }),
    POST: ofDevice((headEnd, _, asked) => {
      keepResponse(headEnd, asked);
      return { status: 201, headers: { Location: `${asked.path}/${headEnd.responses.length}` } };
    }),
  },
  '/mup': {
    GET: (headEnd, { path, query, lfdi }) => {
      const items = mirrorsOf(headEnd, lfdi).map(mirrorPage);
      const facts = { href: path, pollRate: headEnd.rates.mirrors };
      return found(pages.list('MirrorUsagePointList', facts, items, query, headEnd.largestPage));
    },
    POST: (headEnd, asked) => keepMirror(headEnd, asked),
  },
  '/mup/*': {
    GET: (headEnd, { lfdi }, [id]) => {
      const known = headEnd.mirrors.find((mirror) => mirror.id === Number(id));
      return known === undefined || (lfdi !== null && known.owner !== lfdi) ? notFound : found(mirrorPage(known));
    },
    POST: (headEnd, asked, [id]) => keepReadings(headEnd, asked, Number(id)),
  },
};

const compiled = Object.entries(routes).map(([pattern, methods]) => ({
  pattern: new RegExp(`^${pattern.replaceAll('*', '([^/]+)')}$`),
  methods,
}));

/** The proper answer to a request, and its effect. */
export function answerOf(headEnd: HeadEnd, asked: Asked): Answer {
  const extra = headEnd.extraPages.get(asked.path);
  if (extra !== undefined) return { status: 200, text: extra };
  if (headEnd.otherTimes.has(asked.path)) return timePage(headEnd, asked, []);
  const method = asked.method === 'HEAD' ? 'GET' : asked.method;
  for (const { pattern, methods } of compiled) {
    const match = pattern.exec(asked.path);
    if (match === null) continue;
    const handler = methods[method];
    if (handler === undefined) return { status: 405, headers: { Allow: Object.keys(methods).join(', ') } };
    return handler(headEnd, asked, match.slice(1));
  }
  return notFound;
}
