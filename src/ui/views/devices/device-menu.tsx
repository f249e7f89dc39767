/** The menu of a device: operations on the whole device. */
import { useState } from 'preact/hooks';
import { get, post } from '../../api/call';
import { Action } from '../../kit/action';
import { Icon } from '../../kit/icons';
import { Menu } from '../../kit/menu';
import { useLive } from '../../store/live';
import { go } from '../../store/route';
import { ChangeDialog } from './change';
import type { PageProps } from './page';
import { setBy } from './page';

function LocalSwitch({ device }: { readonly device: number }) {
  const query = { device };
  const { data } = useLive(get('controls/local', { query }));
  const isLocal = data?.local ?? false;
  return (
    <div>
      <Action call={post('controls/local', { query, body: { local: !isLocal } })} disabled={!data}>
        {isLocal ? 'Remote control' : 'Local control'}
      </Action>
      <p class="muted">
        {isLocal
          ? `Local, ${setBy(data?.changed_by)}: remote writes are refused.`
          : 'Local refuses remote writes and commands.'}
      </p>
    </div>
  );
}

export function DeviceMenu({ device }: PageProps) {
  const [isChanging, setChanging] = useState(false);
  const { device_index: index, name } = device;
  const query = { device: index };
  return (
    <>
      <Menu label="Device menu" face={<Icon name="more" />}>
        {(close) => (
          <div class="stack device-menu">
            <div class="row">
              <Action call={post('commands', { query, body: { command: 'start' } })}>Start device</Action>
              <Action call={post('commands', { query, body: { command: 'stop' } })}>Stop device</Action>
            </div>
            <Action call={post('commands', { query, body: { command: 'reset', scope: 'alarms' } })}>
              Clear alarms
            </Action>
            <Action
              call={post('commands', { query, body: { command: 'reset', scope: 'device' } })}
              confirm="Reset the device? This ends all overrides and reloads the registers of its profile."
            >
              Reset device
            </Action>
            <LocalSwitch device={index} />
            <button
              type="button"
              onClick={() => {
                close();
                setChanging(true);
              }}
            >
              Change device
            </button>
            <Action
              call={post('devices/{index}/remove', { params: { index } })}
              confirm={`Remove device ${index} ${name}? Its registers, history and sessions are lost.`}
              onDone={() => go('devices')}
            >
              Remove device
            </Action>
          </div>
        )}
      </Menu>
      {isChanging && <ChangeDialog device={device} onClose={() => setChanging(false)} />}
    </>
  );
}
