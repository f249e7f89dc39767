/** `fetch` over node:http: that of Node loads undici, which takes longer than a command. */
import * as http from 'node:http';
import * as https from 'node:https';
import type { Fetch, FetchAnswer } from '../library/options.ts';

type Init = Parameters<Fetch>[1] & { readonly signal?: AbortSignal };

export const fetchByHttp = (url: string, { method, headers, body, signal }: Init) =>
  new Promise<FetchAnswer>((resolve, reject) => {
    const { request } = url.startsWith('https:') ? https : http;
    const sent = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) };
    const options = { method, headers: { ...headers, ...sent }, agent: false, ...(signal && { signal }) } as const;
    const call = request(url, options, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        resolve({
          status: answer.statusCode ?? 0,
          headers: { get: (name) => [answer.headers[name.toLowerCase()]].flat()[0] ?? null },
          text: () => Promise.resolve(text),
        });
      });
    });
    call.on('error', reject);
    call.end(body);
  });
