/** A file server on loopback, where charge points fetch and deliver files. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export class FileServer {
  /** text by name, for GET */
  readonly files = new Map<string, string>();
  /** texts that came by PUT, by name */
  readonly uploads = new Map<string, string>();
  /** requests so far: method, name, ms since the epoch */
  readonly requests: { readonly method: string; readonly name: string; readonly atMs: number }[] = [];
  /** status codes of the next answers instead of success */
  readonly failures: number[] = [];
  readonly #server = createServer((request, response) => {
    const { method = '', url = '/' } = request;
    const name = decodeURIComponent(url.slice(1));
    this.requests.push({ method, name, atMs: Date.now() });
    void buffer(request).then((octets) => {
      const failure = this.failures.shift();
      if (failure !== undefined) {
        response.writeHead(failure).end();
        return;
      }
      if (method === 'PUT') this.uploads.set(name, octets.toString());
      const file = method === 'PUT' ? '' : this.files.get(name);
      response.writeHead(file === undefined ? 404 : 200).end(file);
    });
  });

  async open(): Promise<void> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
  }

  url(name = ''): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${name}`;
  }

  async close(): Promise<void> {
    this.#server.close();
    await once(this.#server, 'close');
  }
}
