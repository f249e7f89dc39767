/** The API description of the running simulator, as far as the search reads it. */
import { fetchByHttp } from '../client-commands/fetch.ts';
import { DerbenchError } from '../library/error.ts';

export interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, { readonly description?: string; readonly type?: unknown }>>;
}

export interface Operation {
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

export interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** `openapi.json` as text. @param url of the simulator @throws DerbenchError `not-reachable` */
export async function descriptionText(url: string, signal: AbortSignal): Promise<string> {
  try {
    const answer = await fetchByHttp(`${url}/openapi.json`, { method: 'GET', headers: {}, signal });
    if (answer.status === 200) return await answer.text();
    throw new Error(`HTTP status ${answer.status}`);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new DerbenchError({ code: 'not-reachable', detail: `${url} gives no API description: ${reason}`, cause });
  }
}

/** Reads the description until it was read once. Calls do not share a request, which ends with one of them. */
export function descriptionOf(url: string): (signal: AbortSignal) => Promise<Description> {
  let description: Description | null = null;
  return async (signal) => {
    description ??= JSON.parse(await descriptionText(url, signal)) as Description;
    return description;
  };
}
