"""What users call: functions, methods and operators made from declarations, and how calls are bound."""
