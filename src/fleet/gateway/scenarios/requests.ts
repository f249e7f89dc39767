/** Requests of a scenario, one after the other through the gateway. */
import type { Perform, Performed } from '../../../api/http/perform.ts';
import type { Origin } from '../../../core/origin.ts';
import type { ScenarioRequest } from '../../../scenario/model.ts';

interface RequestParts {
  readonly perform: Perform;
  readonly by: Origin;
  /** Called before and after each request that may change something. */
  readonly onChange: () => void;
}

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

  async #send(request: ScenarioRequest): Promise<Performed> {
    const { perform, by } = this.#parts;
    return whole(await perform({ ...request, by }));
  }

  async #change(request: ScenarioRequest): Promise<Performed> {
    const { onChange } = this.#parts;
    onChange();
    const answer = await this.#send(request);
    onChange();
    return answer;
  }
}
