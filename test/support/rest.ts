import { expect } from 'chai';
import { createApi } from '../../src/api/http/server.ts';
import type { Api } from '../../src/api/http/server.ts';
import type { SimPlant } from '../../src/der/plant/plant.ts';
import { apiContext } from './api-context.ts';
import type { ContextOptions } from './api-context.ts';
import { ask } from './http.ts';
import type { Ask, Json, JsonAnswer } from './http.ts';
import { testPlant } from './plant.ts';

export const prefix = '/api/sim';

/** The interface over a real plant on a free port; every reply is checked against its schema. */
export class Rest {
  readonly plant: SimPlant;
  readonly api: Api;
  readonly port: number;

  private constructor(plant: SimPlant, api: Api, port: number) {
    this.plant = plant;
    this.api = api;
    this.port = port;
  }

  static async open(plant: SimPlant = testPlant(), options: Partial<ContextOptions> = {}): Promise<Rest> {
    const api = createApi(apiContext({ plant, ...options }), { checkReplies: true });
    const { port } = await api.start();
    return new Rest(plant, api, port);
  }

  call(path: string, options: Ask = {}): Promise<JsonAnswer> {
    return ask(this.port, `${prefix}${path}`, options);
  }

  async get(path: string): Promise<Json> {
    const answer = await this.call(path);
    expect(answer.status, answer.text).to.equal(200);
    return answer.json;
  }

  async post(path: string, body: unknown, status = 200): Promise<Json> {
    const answer = await this.call(path, { method: 'POST', body });
    expect(answer.status, answer.text).to.equal(status);
    return answer.json;
  }

  /** Expects a problem; with a body the request is a POST. */
  async refused(path: string, status: number, code: string, body?: unknown): Promise<Json> {
    const answer = await this.call(path, { ...(body !== undefined && { method: 'POST', body }) });
    expect(answer.status, answer.text).to.equal(status);
    expect(answer.headers['content-type']).to.equal('application/problem+json');
    expect(answer.json.code).to.equal(code);
    return answer.json;
  }
}
