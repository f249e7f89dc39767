/** How a request of REST stands in a message to a shard: a gateway writes these names, a shard reads them. */

/** Headers of a request. `by` is `source;peer`; `private` is there where the client may see secrets. */
export const requestHeaders = {
  method: 'Derbench-Method',
  path: 'Derbench-Path',
  by: 'Derbench-By',
  id: 'Derbench-Id',
  private: 'Derbench-Private',
} as const;

/** Headers of the answer. */
export const statusHeader = 'Derbench-Status';
export const typeHeader = 'Content-Type';

/** Method of a request for the last tick once more, as the first one. */
export const tickMethod = 'TICK';

/** Subject of requests that only the gateway that leads carries out. */
export const leadSubject = (prefix: string) => `${prefix}.lead`;
