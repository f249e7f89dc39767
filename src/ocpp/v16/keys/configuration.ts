/** GetConfiguration (5.8) and ChangeConfiguration (5.3) over the keys of a station. */
import { errorText } from '../../../core/errors.ts';
import type { Connection, Handler, Keys, Part, StationParts } from '../parts.ts';
import type { KeyCheck, KeySet } from './keys.ts';

// Effects of keys on the device and the connection; all others are read by their parts (column `effect` of the table).

interface EffectOptions extends Pick<StationParts, 'device' | 'log' | 'connection' | 'keys'> {
  /** plugging in presents the token `AUTO` */
  readonly autoAuthorize: boolean;
}

interface KeyEffects {
  /** Puts the values in force at the start, all but the security profile. */
  apply(): void;
  /** As `apply`, when the certificates of the station are there. */
  applyProfile(): void;
  /** AuthorizationKey as it is in force, after another one has failed. Null: the password of the settings. */
  restorePassword(password: Buffer | null): void;
  stop(): void;
}

/** Keys of which a change closes the connection, once the answer to it is sent. */
const reconnectingKeys: readonly string[] = ['AuthorizationKey', 'SecurityProfile'];

/**
 * White paper, A05: a profile may only be raised, and only to one that the station has the means for.
 * @param ready whether password or certificates of a profile are there
 */
export function profileCheck(connection: Pick<Connection, 'securityProfile'>, ready: (profile: 1 | 2 | 3) => boolean) {
  const check: KeyCheck = (value) => {
    const profile = Number(value) as 1 | 2 | 3;
    return profile > connection.securityProfile && ready(profile);
  };
  return check;
}

function behaviourOf(keys: Keys, autoAuthorize: boolean) {
  const timeoutS = keys.integer('ConnectionTimeOut');
  return {
    kind: 'evse.behaviour',
    connectionTimeoutS: timeoutS,
    authorizationTimeoutS: timeoutS,
    endOnEvDisconnect: keys.boolean('StopTransactionOnEVSideDisconnect'),
    unlockOnEvDisconnect: keys.boolean('UnlockConnectorOnEVSideDisconnect'),
    autoAuthorize,
  } as const;
}

const behaviourKeys = [
  'ConnectionTimeOut',
  'StopTransactionOnEVSideDisconnect',
  'UnlockConnectorOnEVSideDisconnect',
] as const;

export function createKeyEffects({ device, log, connection, keys, autoAuthorize }: EffectOptions): KeyEffects {
  const behave = (): void => {
    try {
      device.command(behaviourOf(keys, autoAuthorize));
    } catch (error) {
      log.warning(`configuration keys have no effect at the device: ${errorText(error)}`, device.deviceIndex);
    }
  };
  let isRestoring = false;
  const setPassword = (hex: string): void => {
    if (hex !== '' && !isRestoring) connection.setPassword(Buffer.from(hex, 'hex'));
  };
  const setProfile = (value: string): void => {
    const profile = Number(value);
    if ((profile === 1 || profile === 2 || profile === 3) && profile !== connection.securityProfile)
      connection.setSecurityProfile(profile);
  };
  const ends = [
    ...behaviourKeys.map((key) => keys.onChange(key, behave)),
    keys.onChange('WebSocketPingInterval', (value) => {
      connection.setPingInterval(Number(value));
    }),
    keys.onChange('AuthorizationKey', setPassword),
    keys.onChange('SecurityProfile', setProfile),
  ];
  return {
    apply: () => {
      behave();
      connection.setPingInterval(keys.integer('WebSocketPingInterval'));
      setPassword(keys.text('AuthorizationKey'));
    },
    applyProfile: () => {
      // raised in an earlier process; what the flags give now may be higher
      if (keys.integer('SecurityProfile') > connection.securityProfile) setProfile(keys.text('SecurityProfile'));
    },
    restorePassword: (password) => {
      isRestoring = true;
      keys.set('AuthorizationKey', password?.toString('hex') ?? '');
      isRestoring = false;
    },
    stop: () => {
      for (const end of ends) end();
    },
  };
}

const reconnects = (key: string): boolean => reconnectingKeys.some((each) => each.toLowerCase() === key.toLowerCase());

interface ConfigurationPart extends Part {
  readonly handlers: {
    readonly GetConfiguration: Handler<'GetConfiguration'>;
    readonly ChangeConfiguration: Handler<'ChangeConfiguration'>;
  };
  /** A local change. @throws SimError UNKNOWN_RESOURCE, COMMAND_BAD_VALUE */
  setLocal(key: string, value: string): void;
}

interface ConfigurationNeeds {
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
