<scriptConfig name="TRY_1" script="TRY">
  <params>
    <param name="try.text" type="string">from the file</param>
    <param name="try.count" type="int">7</param>
    <param name="gridsim.mode" type="string">Disabled</param>
  </params>
</scriptConfig>
