/** Settings of the process, its certificates, and the lab as a file. */
import type { ComponentType } from 'preact';
import { get } from '../../api/call';
import { CallLine } from '../../kit/api-switch';
import { Parts } from '../../kit/choices';
import { Panel } from '../../kit/panel';
import { ViewHead } from '../../kit/tabs';
import { param } from '../../store/route';
import { Certificates } from './certificates';
import { SettingsForm } from './form';

const parts: readonly { readonly name: string; readonly title: string; readonly component: ComponentType }[] = [
  { name: 'all', title: 'Settings', component: SettingsForm },
  { name: 'certificates', title: 'Certificates', component: Certificates },
  { name: 'file', title: 'Lab as a file', component: LabFile },
];

export default function Settings() {
  const part = parts.find(({ name }) => name === param('settings-part')) ?? parts[0];
  const Part = part?.component;
  return (
    <>
      <ViewHead title="Settings">
        <Parts label="Parts of the settings" name="settings-part" parts={parts} chosen={part?.name} />
      </ViewHead>
      {Part && <Part />}
    </>
  );
}

function LabFile() {
  const yaml = get('config', { query: { format: 'yaml' } });
  const json = get('config', { query: { format: 'json' } });
  return (
    <Panel title="Lab as a file" tools={<CallLine call={yaml} />}>
      <div class="stack">
        <p>
          The running lab as a configuration file: every setting that differs from its default, the devices, the grid
          and the faults of the configuration. A start with <code>--config lab.yaml</code> makes the same lab again.
          Passwords and PINs are left out, and so is state such as energy and the clock.
        </p>
        <div class="row">
          <a href={yaml.address} download="lab.yaml">
            Download lab.yaml
          </a>
          <a href={json.address} download="lab.json">
            Download lab.json
          </a>
        </div>
      </div>
    </Panel>
  );
}
