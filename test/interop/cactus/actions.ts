/** Actions of the test definitions on a head-end. */
import type { HeadEnd } from '../../csip/head-end/head-end.ts';
import type { Control, Modes, Program } from '../../csip/head-end/model.ts';
import type { Parameters, Typed, Value } from './definitions.ts';

/** What actions of one run share. */
export interface Acting {
  readonly headEnd: HeadEnd;
  readonly tags: Map<string, Control>;
  readonly programTags: Map<string, Program>;
  /** LFDI of the client */
  readonly lfdi: string;
  /** the value of a parameter with its expressions evaluated */
  readonly value: (value: Value | undefined) => Value | undefined;
  /** ends a loss of communication */
  restore: (() => void) | null;
}

type Action = (acting: Acting, parameters: Parameters) => void;

const limits = ['opModImpLimW', 'opModExpLimW', 'opModGenLimW', 'opModLoadLimW', 'opModStorageTargetW'];

/** A power as the standard writes it: 16 bits and a power of ten. */
function power(watts: number, multiplier?: number): { readonly multiplier: number; readonly value: number } {
  let power10 = multiplier ?? 0;
  while (Math.abs(watts) / 10 ** power10 > 32_767) power10 += 1;
  return { multiplier: power10, value: Math.round(watts / 10 ** power10) };
}

function modesOf({ value }: Acting, parameters: Parameters): Modes {
  const modes: Record<string, Modes[string]> = {};
  const multiplier = parameters['pow_10_multipliers'];
  for (const [name, given] of Object.entries(parameters)) {
    if (limits.includes(name)) {
      modes[name] = power(Number(value(given)), typeof multiplier === 'number' ? multiplier : undefined);
    } else if (name === 'opModFixedW') modes[name] = Math.round(Number(value(given)) * 100);
    else if (name.startsWith('opMod')) modes[name] = value(given) === true;
  }
  const rampS = value(parameters['ramp_time_seconds']);
  if (typeof rampS === 'number') modes['rampTms'] = Math.round(rampS * 100);
  return modes;
}

function newProgram(acting: Acting, { primacy, fsa_id: fsaId = 1, end_device_indexes: indexes }: Parameters): Program {
  const { headEnd } = acting;
  const fsa = headEnd.fsas.find(({ id }) => id === fsaId) ?? headEnd.fsa(`group ${String(fsaId)}`, Number(fsaId));
  const devices = Array.isArray(indexes)
    ? { endDevices: indexes.flatMap((index) => headEnd.endDevices[Number(index)]?.id ?? []) }
    : {};
  // the server of the definitions has a DefaultDERControl for each program, without modes until one is set
  const program = headEnd.program({ primacy: Number(primacy ?? 0), fsa, default: {}, ...devices });
  for (const { id } of headEnd.endDevices) headEnd.changed(`/edev/${id}/fsa`);
  return program;
}

/** The program that a control belongs to; made if there is none. */
function programOf(acting: Acting, parameters: Parameters): Program {
  const { primacy, fsa_id: fsaId, der_program_tag: tag } = parameters;
  if (typeof tag === 'string') {
    const tagged = acting.programTags.get(tag);
    if (tagged !== undefined) return tagged;
  }
  const known = acting.headEnd.programs.find(
    (program) =>
      (primacy === undefined || program.primacy === primacy) && (fsaId === undefined || program.fsaId === fsaId),
  );
  return known ?? newProgram(acting, parameters);
}

const createControl: Action = (acting, parameters) => {
  const { headEnd, value, tags } = acting;
  const start = Number(value(parameters['start']));
  const random = parameters['randomizeStart_seconds'];
  const control = headEnd.control(programOf(acting, parameters), {
    modes: modesOf(acting, parameters),
    inS: start - headEnd.nowS,
    durationS: Number(parameters['duration_seconds']),
    ...(typeof random === 'number' && { randomizeStartS: random }),
  });
  if (typeof parameters['tag'] === 'string') tags.set(parameters['tag'], control);
};

const setDefault: Action = (acting, parameters) => {
  const { headEnd } = acting;
  const { derp_id: id, cancelled, setGradW } = parameters;
  const program = headEnd.programs.find((known) => id === undefined || known.id === id) ?? newProgram(acting, {});
  if (cancelled === true) headEnd.setDefault(program, {});
  else
    headEnd.setDefault(
      program,
      modesOf(acting, parameters),
      setGradW === undefined ? {} : { setGradW: Number(setGradW) },
    );
};

const setRates: Action = ({ headEnd }, parameters) => {
  const { rates } = headEnd;
  const seconds = (name: string): number | undefined => {
    const given = parameters[`${name}_seconds`];
    return typeof given === 'number' ? given : undefined;
  };
  rates.dcap = seconds('dcap_poll') ?? rates.dcap;
  rates.endDevicePost = seconds('edev_post') ?? rates.endDevicePost;
  rates.endDevices = seconds('edev_list_poll') ?? rates.endDevices;
  rates.fsas = seconds('fsa_list_poll') ?? rates.fsas;
  rates.programs = seconds('derp_list_poll') ?? rates.programs;
  rates.ders = seconds('der_list_poll') ?? rates.ders;
  rates.mirrors = seconds('mup_list_poll') ?? rates.mirrors;
  const post = seconds('mup_post');
  if (post !== undefined) {
    rates.mirrorPost = post;
    for (const mirror of headEnd.mirrors) mirror.postRate = post;
  }
  if (seconds('edev_post') !== undefined || seconds('edev_list_poll') !== undefined) headEnd.changed('/edev');
  for (const { id } of headEnd.endDevices) {
    if (seconds('fsa_list_poll') !== undefined) headEnd.changed(`/edev/${id}/fsa`);
  }
};

const checkDigit = (digits: number): number => {
  const sum = Array.from(String(digits)).reduce((total, digit) => total + Number(digit), 0);
  return digits * 10 + ((10 - (sum % 10)) % 10);
};

const actions: Readonly<Record<string, Action>> = {
  'set-comms-rate': setRates,
  'create-der-program': (acting, parameters) => {
    const program = newProgram(acting, parameters);
    if (typeof parameters['tag'] === 'string') acting.programTags.set(parameters['tag'], program);
  },
  'set-default-der-control': setDefault,
  'create-der-control': createControl,
  'cancel-active-der-controls': ({ headEnd }) => {
    for (const { controls } of headEnd.programs) {
      for (const control of controls) {
        if (control.status === null && control.startS + control.durationS > headEnd.nowS) headEnd.end(control, 2);
      }
    }
  },
  'communications-status': (acting, { enabled }) => {
    acting.restore?.();
    acting.restore = enabled === true ? null : acting.headEnd.trick('*', /./, { kind: 'reset' });
    if (enabled !== true) acting.headEnd.hangUp();
  },
  'edev-registration-links': ({ headEnd }, { enabled }) => {
    headEnd.inBandPin = enabled === true ? 111_115 : null;
    if (enabled !== true) for (const device of headEnd.endDevices) device.pin = null;
  },
  'register-end-device': ({ headEnd, lfdi }, { registration_pin: pin }) => {
    headEnd.register(lfdi, { pin: typeof pin === 'number' ? checkDigit(pin) : null });
  },
  'remove-function-set-assignment': ({ headEnd }, { fsa_id: id }) => {
    headEnd.fsas.splice(
      headEnd.fsas.findIndex((fsa) => fsa.id === id),
      1,
    );
    for (const program of headEnd.programs.filter(({ fsaId }) => fsaId === id)) {
      headEnd.programs.splice(headEnd.programs.indexOf(program), 1);
    }
    for (const device of headEnd.endDevices) headEnd.changed(`/edev/${device.id}/fsa`);
  },
  'force-response-status': (
    { headEnd },
    { endpoint, status, retry_after_seconds: afterS, duration_seconds: durationS },
  ) => {
    const headers: Record<string, string> = afterS === undefined ? {} : { 'Retry-After': String(afterS) };
    const untilS = headEnd.nowS + Number(durationS ?? Infinity);
    headEnd.trick('*', String(endpoint), {
      kind: 'answer',
      status: Number(status),
      headers,
      while: () => headEnd.nowS < untilS,
    });
  },
};

export const supportsAction = ({ type }: Typed): boolean =>
  type in actions || ['enable-steps', 'remove-steps', 'finish-test'].includes(type);

export function act(acting: Acting, { type, parameters = {} }: Typed): void {
  actions[type]?.(acting, parameters);
}
