import pandas as pd

frame = pd.DataFrame({"shop": ["a", "b"] * 50, "amount": range(100)})
frame.to_excel("book.xlsx", index=False)
print(pd.read_excel("book.xlsx")["amount"].sum())
