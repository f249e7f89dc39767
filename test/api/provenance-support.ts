import { expect } from 'chai';
import type { Json } from '../support/http.ts';
import { testPlant } from '../support/plant.ts';
import { Rest } from '../support/rest.ts';

export const site = ['PV-3Phase', 'Batt-3Phase', 'Wind-T4-3Phase', 'Fuelcell-3Phase', 'HybridDC-3Phase', 'EVSE'];
export const index = { pv: 0, battery: 1, wind: 2, fuelCell: 3, hybrid: 4, evse: 5 } as const;
export const begin = '2026-06-21T12:00:00.000Z';
export const later = '2026-06-21T12:00:03.000Z';

/** A request as the dashboard makes it. */
export async function fromDashboard(rest: Rest, path: string, body: unknown): Promise<Json> {
  const answer = await rest.call(path, { body, headers: { 'X-Derbench-Client': 'dashboard' } });
  expect(answer.status, answer.text).to.be.oneOf([200, 202]);
  return answer.json;
}

export const pointOf = async (rest: Rest, model: number, name: string, device = 0): Promise<Json> => {
  const { points } = await rest.get(`/registers/${model}?device=${device}`);
  return points.find((each: Json) => each.name === name);
};

/** The three members alone, wherever they stand. */
export function writerIn({ source, source_detail: detail, changed_at: at }: Json): Json {
  return { source, source_detail: detail, changed_at: at };
}

export async function override(
  rest: Rest,
  device: number,
  name: string,
  connectorId: number | null = null,
): Promise<Json> {
  const { overrides } = await rest.get(`/controls?device=${device}`);
  const found = overrides.filter((each: Json) => each.name === name && each.connector_id === connectorId);
  expect(found, `${name} of device ${device}`).to.have.length.at.most(1);
  return found[0] === undefined ? null : writerIn(found[0]);
}

/** The interface over a plant with one device of each kind. */
export const openSite = () => Rest.open(testPlant({ types: site }));
export const connector = '/evse/SIM-CP-1/connectors/1';
