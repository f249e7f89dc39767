import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { deviceQuery } from '../common/schemas.ts';
import { exampleGridEvent, gridSchema } from '../controls/schemas.ts';
import { exampleGridEvents, gridEventBodySchema, gridEventsSchema } from './grid-event-schemas.ts';
import { checkedIndex, gridReply } from './replies.ts';

const listGridEvents = route({
  method: 'get',
  path: '/grid-events',
  tag: 'Controls',
  operationId: 'list_grid_events',
  summary: 'Library of named grid events and their parameters',
  description: 'Frequencies are those of this site: ranges and defaults follow its nominal frequency.',
  reply: gridEventsSchema,
  examples: { reply: exampleGridEvents },
  handle: ({ plant }) => ({
    events: plant.gridEvents.map(({ name, description, parameters }) => ({
      name,
      description,
      parameters: parameters.map(({ allowed, ...parameter }) => ({ ...parameter, allowed: allowed && [...allowed] })),
    })),
  }),
});

const setGridEvent = route({
  method: 'post',
  path: '/controls/grid/event',
  tag: 'Controls',
  operationId: 'set_grid_event',
  summary: 'Starts a named grid event, or stops the one under way',
  description:
    'The event overrides its quantities until it ends; then the values beneath apply again. ' +
    'Another event replaces it; `controls/grid` without `duration_s` takes the quantities of the request out of it. ' +
    'Scope as `controls/grid`: without `device` the common grid, and every deviation of a device ends.',
  query: deviceQuery,
  body: gridEventBodySchema,
  reply: gridSchema,
  examples: { body: { event: 'sag', parameters: { residual_pu: 0.5, duration_s: 2 } }, reply: exampleGridEvent },
  handle({ plant }, { query, body, by }) {
    const index = checkedIndex(plant, query.device);
    if (body.event === null) plant.stopGridEvent(index, by);
    else plant.startGridEvent(body.event, body.parameters ?? {}, index, by);
    return gridReply(plant, index);
  },
});

export const gridEventRoutes: readonly Route[] = [listGridEvents, setGridEvent];
