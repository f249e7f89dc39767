/** GetConfiguration (5.8) and ChangeConfiguration (5.3) over the keys of a station. */
import type { KeyEffects } from './keys/effects.ts';
import { reconnectingKeys } from './keys/effects.ts';
import type { KeySet } from './keys/keys.ts';
import type { Connection, Handler, Part, StationParts } from './parts.ts';

const reconnects = (key: string): boolean => reconnectingKeys.some((each) => each.toLowerCase() === key.toLowerCase());

export interface ConfigurationPart extends Part {
  readonly handlers: {
    readonly GetConfiguration: Handler<'GetConfiguration'>;
    readonly ChangeConfiguration: Handler<'ChangeConfiguration'>;
  };
  /** A local change. @throws SimError UNKNOWN_RESOURCE, COMMAND_BAD_VALUE */
  setLocal(key: string, value: string): void;
}

export interface ConfigurationNeeds {
  readonly connection: Pick<Connection, 'reconnect'>;
  readonly finding: StationParts['finding'];
}

export function createConfiguration(
  keys: KeySet,
  effects: KeyEffects,
  { connection, finding }: ConfigurationNeeds,
): ConfigurationPart {
  const reconnect = (key: string): void => {
    connection.reconnect(`${key} was changed`);
  };
  return {
    handlers: {
      GetConfiguration: (request) => {
        const max = keys.integer('GetConfigurationMaxKeys');
        const count = request.key?.length ?? 0;
        if (count > max)
          finding('OCPP 1.6 9.1', `${count} keys, GetConfigurationMaxKeys is ${max}`, 'GetConfiguration');
        return keys.get(request);
      },
      ChangeConfiguration: (request, after) => {
        const reply = keys.change(request);
        if (reply.status === 'Accepted' && reconnects(request.key))
          after(() => {
            reconnect(request.key);
          });
        return reply;
      },
    },
    setLocal: (key, value) => {
      keys.setLocal(key, value);
      if (reconnects(key)) reconnect(key);
    },
    stop: () => {
      effects.stop();
    },
  };
}
