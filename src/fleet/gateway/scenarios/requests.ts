/** Requests of a scenario, carried out over shards as one process carries them out. */
import type { Perform, Performed } from '../../../api/http/perform.ts';
import type { Origin } from '../../../core/origin.ts';
import type { ScenarioRequest } from '../../../scenario/model.ts';
import type { ShardPlace } from '../forward.ts';

interface RequestParts {
  readonly perform: Perform;
  readonly by: Origin;
  readonly places: () => readonly ShardPlace[];
  /** Called before and after each request that may change something. */
  readonly onChange: () => void;
}

type Injected = Readonly<Record<string, unknown>>;
type FaultBody = { readonly inject?: readonly Injected[]; readonly device?: unknown } | null | undefined;

/** Status of a request that some shards have carried out, and others not. */
const partly = 207;

interface PartlyDone {
  readonly failed: readonly { readonly shard: string; readonly status: number; readonly detail: string }[];
}

/** A change that some shards have not taken over is a refusal for a scenario. */
function whole({ status, body }: Performed): Performed {
  if (status !== partly) return { status, body };
  const { failed } = body as PartlyDone;
  const detail = failed.map((each) => `shard "${each.shard}": ${each.detail}`).join('; ');
  return { status: failed[0]?.status ?? 503, body: { detail } };
}

export class FleetRequests {
  readonly #parts: RequestParts;
  /** the last change; each begins when the one before it is done, as in one process */
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: RequestParts) {
    this.#parts = parts;
  }

  perform(request: ScenarioRequest): Promise<Performed> {
    if (request.method === 'GET') return this.#send(request);
    const done = this.#last.then(() => this.#change(request));
    this.#last = done;
    return done;
  }

  async #send(request: ScenarioRequest, shard?: string): Promise<Performed> {
    const { perform, by } = this.#parts;
    const query = shard === undefined ? request.query : { ...request.query, shard };
    return whole(await perform({ ...request, ...(query && { query }), by }));
  }

  async #change(request: ScenarioRequest): Promise<Performed> {
    const { onChange } = this.#parts;
    onChange();
    const isForFaults = request.path === '/faults' && request.query?.['device'] === undefined;
    const answer = await (isForFaults ? this.#faults(request) : this.#send(request));
    onChange();
    return answer;
  }

  /** The shard that holds a device; that of the first device for one that is not named. */
  #holder(device: unknown): string | undefined {
    const places = this.#parts.places();
    if (typeof device !== 'number') return places[0]?.name;
    return (places.find(({ first, room }) => device >= first && device < first + room) ?? places[0])?.name;
  }

  /** Faults go to the shards of their devices, and what concerns all devices to all shards. */
  async #faults(request: ScenarioRequest): Promise<Performed> {
    const body = request.body as FaultBody;
    const all = this.#parts.places().map(({ name }) => name);
    if (body?.inject === undefined) {
      const isOfOne = (body as Injected | null | undefined)?.['profile'] !== undefined;
      return this.#sendTo(isOfOne ? [this.#holder(body?.device) ?? ''] : all, () => request);
    }
    const byShard = new Map<string, Injected[]>();
    for (const fault of body.inject)
      for (const name of fault['device'] === 'all' ? all : [this.#holder(fault['device']) ?? ''])
        byShard.set(name, [...(byShard.get(name) ?? []), fault]);
    return this.#sendTo([...byShard.keys()], (name) => ({ ...request, body: { ...body, inject: byShard.get(name) } }));
  }

  async #sendTo(shards: readonly string[], requestOf: (shard: string) => ScenarioRequest): Promise<Performed> {
    const answers = await Promise.all(shards.map((shard) => this.#send(requestOf(shard), shard)));
    const refused = answers.find(({ status }) => status >= 400);
    return refused ?? answers[0] ?? { status: 503, body: { detail: 'no shard of the fleet answers' } };
  }
}
