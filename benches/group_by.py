import pandas as pd

sales = pd.read_csv("sales.csv")
print(sales.groupby("shop")["amount"].agg(["sum", "mean"]).sort_values("sum").tail(3))
