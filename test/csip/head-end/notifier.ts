/** Sends notifications to the listeners of subscribers. */
import { Agent as PlainAgent, request as plainRequest } from 'node:http';
import { Agent, request } from 'node:https';
import { documentOf, leaf } from './markup.ts';
import type { SubscriptionRecord } from './model.ts';
import type { HeadEndOptions } from './head-end.ts';

export class Notifier {
  readonly #tls: HeadEndOptions['tls'];
  readonly #plain = new PlainAgent({ keepAlive: false });
  readonly #secure: Agent;
  /** every body that was sent */
  readonly sent: { readonly uri: string; readonly body: string; status: number }[] = [];
  #open = 0;

  constructor(tls: HeadEndOptions['tls']) {
    this.#tls = tls;
    this.#secure = new Agent({ keepAlive: false });
  }

  get open(): number {
    return this.#open;
  }

  /** @param root the resource as an element; null: none */
  send({ href, resource, notificationUri }: SubscriptionRecord, status: number, root: string | null): Promise<number> {
    const children = [
      leaf('subscribedResource', resource),
      root === null ? undefined : asResource(root),
      leaf('status', status),
      leaf('subscriptionURI', href),
    ].join('');
    const schema = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"';
    return this.post(notificationUri, documentOf(`<Notification ${schema}>${children}</Notification>`));
  }

  /** @returns the status; 0: no answer */
  post(uri: string, body: string): Promise<number> {
    const url = new URL(uri);
    const note = { uri, body, status: 0 };
    this.sent.push(note);
    const secure = url.protocol === 'https:';
    const options = {
      method: 'POST',
      headers: { 'Content-Type': 'application/sep+xml', 'Content-Length': Buffer.byteLength(body) },
    };
    this.#open += 1;
    return new Promise((resolve) => {
      const done = (status: number) => {
        this.#open -= 1;
        note.status = status;
        resolve(status);
      };
      const sending =
        secure && this.#tls !== null
          ? request(url, {
              ...options,
              ...this.#tls.identity,
              ca: this.#tls.ca,
              agent: this.#secure,
              minVersion: 'TLSv1.2',
              maxVersion: 'TLSv1.2',
              ciphers: 'ECDHE-ECDSA-AES128-CCM8:ECDHE-ECDSA-AES128-GCM-SHA256:@SECLEVEL=0',
              checkServerIdentity: () => undefined,
            })
          : plainRequest(url, { ...options, agent: this.#plain });
      sending.on('response', (response) => {
        response.resume();
        response.on('end', () => done(response.statusCode ?? 0));
        response.on('error', () => undefined);
      });
      sending.on('error', () => done(0));
      sending.end(body);
    });
  }

  close(): void {
    this.#plain.destroy();
    this.#secure.destroy();
  }
}

/** `<DERControlList ...>` becomes `<Resource xsi:type="DERControlList" ...>`. */
function asResource(root: string): string {
  const name = /^<([A-Za-z]+)/.exec(root)?.[1] ?? '';
  const renamed = root.replace(/^<[A-Za-z]+/, `<Resource xsi:type="${name}"`);
  return renamed.replace(new RegExp(`</${name}>$`), '</Resource>');
}
